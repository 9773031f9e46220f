/** Links that carry a model in themselves: its bytes are the fragment of the address. */

/** The bytes, at most, of a model that a link may carry. */
export const LONGEST = 65_536;

/** In base64url, for people to copy. */
const MODEL = 'model';
/** In decimal digits, of which a QR code holds nearly twice as many. */
const DECIMAL = 'decimal';

/** Seven bytes are 17 digits; fewer bytes, at the end, by their number: */
const GROUP = 7;
const DIGITS = [0, 3, 5, 8, 10, 13, 15, 17];

/** The link that carries a model; `page` is the page's address without a fragment. */
export function linkTo(page: string, blob: Uint8Array): string {
  let text = '';
  for (const byte of blob) text += String.fromCharCode(byte);
  const base64 = btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return `${page}#${MODEL}=${base64}`;
}

/** The same for a QR code: the start, and decimal digits behind it. */
export function decimalLinkTo(page: string, blob: Uint8Array): [start: string, digits: string] {
  let digits = '';
  for (let at = 0; at < blob.length; at += GROUP) {
    const group = blob.subarray(at, at + GROUP);
    const number = group.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    digits += String(number).padStart(DIGITS[group.length]!, '0');
  }
  return [`${page}#${DECIMAL}=`, digits];
}

/**
 * The model that a fragment carries; none if it is about something else.
 *
 * @throws what is wrong with it
 */
export function modelIn(fragment: string): Uint8Array<ArrayBuffer> | undefined {
  const [, kind, text] = /^#?(model|decimal)=(.*)$/s.exec(fragment) ?? [];
  if (text === undefined) return undefined;
  const most = kind === MODEL ? Math.ceil((4 * LONGEST) / 3) : Math.ceil((17 * LONGEST) / GROUP);
  if (text.length > most) {
    const [found, limit] = [text.length, most].map((number) => number.toLocaleString('en'));
    throw new Error(`it has ${found} characters, the page takes ${limit} at most`);
  }
  if (text === '') throw new Error('it is empty');
  const foreign = (kind === MODEL ? /[^\w-]/ : /\D/).exec(text);
  if (foreign) throw new Error(`character ${foreign.index + 1} of it, \`${foreign[0]}\`, belongs to no model`);
  const bytes = kind === MODEL ? fromBase64(text) : fromDigits(text);
  if (!bytes) throw new Error('it is damaged or cut off');
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
}

function fromDigits(text: string): Uint8Array<ArrayBuffer> | undefined {
  const whole = DIGITS[GROUP]!;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += whole) {
    const digits = text.slice(at, at + whole);
    const length = DIGITS.indexOf(digits.length);
    let number = BigInt(digits);
    if (length < 0 || number >> BigInt(8 * length)) return undefined;
    const group: number[] = [];
    for (let i = 0; i < length; i++, number >>= 8n) group.unshift(Number(number & 255n));
    bytes.push(...group);
  }
  return Uint8Array.from(bytes);
}
