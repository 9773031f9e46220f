import type { Source } from '../runtime.js';
import type { Session } from '../session.js';

/**
 * What differs between a page, node, and bringing your own wasm. The build gives each entry of
 * the package its own: see `scripts/build.mjs`.
 */
export interface Host {
  /** The runtime that `init` takes by default. */
  runtime(): Source | Promise<Source>;
  /** Where there is a smaller one for models of these families, a bit for each by its code. */
  part?(families: number): URL | undefined;
  /** Opens an address. */
  open(address: URL | string): Promise<Response | BufferSource>;
  /** Answers a row of JSON, where the runtime can. */
  answer?(session: Session, row: string): string;
}
