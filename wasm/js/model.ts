import { Section } from './blob.js';
import { Untold, unsuited, wrongLength } from './message.js';
import { host } from './host/page.js';
import { isList, shown, typed, type ColumnMap, type Fields, type NamedRow, type Reading, type Row, type Rows, type Typed } from './row.js';
import { bytesIn, bytesOf, init, moduleOf, ready, type Bytes, type Source } from './runtime.js';
import { Session, type Views } from './session.js';

/** What a model says of itself. */
export interface Info {
  /** What the outputs are. */
  readonly task: Task;
  /** Numbers in a row. */
  readonly inputs: number;
  /** Scores of a row. */
  readonly outputs: number;
  /** Classes of a classification (two for one output), else 0. */
  readonly classes: number;
  /** Names of the classes; empty if the model carries none. */
  readonly classNames: readonly string[];
  /** Features: random functions of the row that are weighted. */
  readonly features: number;
  /** Bytes of the model. */
  readonly bytes: number;
  /** Bytes that a prediction works in here; `koan inspect` tells those of a microcontroller. */
  readonly bufferBytes: number;
  /** Real value of a score of 1. */
  readonly scoreScale: number;
  /** The seed of every random draw. */
  readonly seed: bigint;
  /** The trainer's notes: JSON, or empty. */
  readonly notes: string;
}

/** How a model is loaded. */
export interface Options extends Reading {
  /**
   * The most work that a prediction may take: see {@link Model.work}. A model that needs
   * more is refused; without this, what the format allows, 2^28.
   */
  readonly maxWork?: number | undefined;
  /**
   * `Columns` of the entry `koan-wasm/columns`: rows may then be what stands in the data, before
   * categories and missing values became numbers.
   */
  readonly columns?: ColumnMap | undefined;
  /**
   * Whether rows may have NaN, an unknown number: it counts as what the trainer has centred the
   * input on. Without this, NaN is an error. `json` takes `null` for it in any case.
   */
  readonly allowNaN?: boolean | undefined;
}

type Task = 'features' | 'regression' | 'classification';

/** Arrays of results. */
type Results = Float32Array | Int32Array | Int16Array | Uint8Array;

/**
 * A koan model, ready to predict.
 *
 * Methods take one row, or with `Many` in their name several. What cannot be done throws an `Error` that says why:
 * a row of the wrong length, a call that does not suit the model, a model that
 * was freed.
 */
export class Model {
  #session: Session | undefined;
  /** What the model says of itself. */
  readonly info: Info;
  /**
   * A bound on the work of a prediction, in additions, products and look-ups: what the
   * model declares, nothing is predicted for it.
   */
  readonly work: number;
  /** What scores are multiplied by for probabilities, and what is added, if anything. */
  readonly #calibration: Float32Array;
  readonly #allowNaN: boolean;
  readonly #columns: InstanceType<ColumnMap> | undefined;

  private constructor(bytes: Uint8Array, { maxWork = Infinity, columns, allowNaN, ...others }: Options = {}) {
    // A limit that is misspelt would be none.
    for (const name in others) {
      if (!columns || name !== 'unknown') throw new TypeError(`there is no option ${name}`);
    }
    if (typeof maxWork !== 'number' || !(maxWork >= 0)) {
      throw new TypeError(`maxWork is ${shown(maxWork)}, not a number from 0 on`);
    }
    if (columns && typeof columns !== 'function') throw new TypeError('columns is not Columns of koan-wasm/columns');
    const session = new Session(bytes, maxWork);
    this.work = session.work;
    this.info = session.info();
    this.#calibration = new Float32Array(session.section(Section.Calibration).slice().buffer);
    this.#allowNaN = !!allowNaN;
    this.#session = session;
    // Where the engine knows `using`, a model is disposed of by it.
    if (Symbol.dispose) Object.defineProperty(this, Symbol.dispose, { value: this.free });
    try {
      this.#columns = columns && new columns(this.info, others);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /**
   * Loads a model, and starts what runs it: in a page the smallest part of the runtime that
   * does, unless `init` has started all of it.
   *
   * @param source the model's bytes, its address (a `URL` or text), a `Response`, a `Blob` or `File`,
   * or a compiled `WebAssembly.Module` that carries the model in a custom
   * section `koan` (see {@link embed}), which is then also the runtime
   * @param options what the model may need at most, and what rows it takes
   */
  static async load(source: Source | PromiseLike<Source>, options?: Options): Promise<Model> {
    const given = await source;
    const module = moduleOf(given);
    const isRuntime = module && WebAssembly.Module.exports(module).length > 0;
    // In a page the model says which part of the runtime it needs; elsewhere there is one for all,
    // which comes at the same time.
    const [blob] = await Promise.all([
      module ? carried(module) : bytesOf(given as Bytes),
      (isRuntime || !host.part) && init(isRuntime ? module : undefined),
    ]);
    await ready(blob);
    try {
      try {
        return new Model(blob, options);
      } catch (error) {
        if (!(error instanceof Untold)) throw error;
        // The runtime for all says why.
        await init();
        return new Model(blob, options);
      }
    } catch (error: any) {
      // Of a `URL`, a `Response` and a `File`.
      const { href, url, name } = given as any;
      const address = typeof given === 'string' ? given : href || url || name;
      // A server may answer with a page that is no model. A `TypeError` is about the call.
      if (address && !(error instanceof TypeError)) error.message = `${address.slice(0, 99)}: ${error.message}`;
      throw error;
    }
  }

  /**
   * Loads a model from its bytes, at once; the runtime must have been started
   * with `await init()`.
   */
  static from(bytes: BufferSource, options?: Options): Model {
    return new Model(bytesIn(bytes), options);
  }

  /** The class of a row: its number, from 0; `info.classNames` has its name. */
  classify<T extends Fields<T>>(row: Row | T): number {
    return this.#class(this.#inputs(row));
  }

  /** The classes of several rows. */
  classifyMany<T extends Fields<T>>(rows: Rows | readonly T[]): Uint8Array {
    return this.#many(Uint8Array, 1, rows, (row) => [this.#class(row)]);
  }

  /** The name of a row's class; its number as text if the model carries no names. */
  predictLabel<T extends Fields<T>>(row: Row | T): string {
    return this.#label(this.classify(row));
  }

  /** The names of the classes of several rows. */
  predictLabelMany<T extends Fields<T>>(rows: Rows | readonly T[]): string[] {
    return Array.from(this.classifyMany(rows), (number) => this.#label(number));
  }

  /** The exact integer scores of a row, one for each output: the same on every device. */
  scores<T extends Fields<T>>(row: Row | T): Int32Array {
    return this.#scores(this.#inputs(row)).slice();
  }

  /** The scores of several rows, row by row. */
  scoresMany<T extends Fields<T>>(rows: Rows | readonly T[]): Int32Array {
    return this.#many(Int32Array, this.info.outputs, rows, (row) => this.#scores(row));
  }

  /**
   * The probability of every class; a detector of anomalies has none. Other than the scores, these are the engine's
   * floats: the last bits may differ from one to the next.
   */
  probabilities<T extends Fields<T>>(row: Row | T): Float32Array {
    return Float32Array.from(this.#probabilities(this.#inputs(row)));
  }

  /** The probabilities of several rows, row by row. */
  probabilitiesMany<T extends Fields<T>>(rows: Rows | readonly T[]): Float32Array {
    return this.#many(Float32Array, this.info.classes, rows, (row) => this.#probabilities(row));
  }

  /** The value of a regression's first output, in the target's units. */
  predict<T extends Fields<T>>(row: Row | T): number {
    return this.#predict(this.#inputs(row));
  }

  /** The values of the first output of several rows. */
  predictMany<T extends Fields<T>>(rows: Rows | readonly T[]): Float32Array {
    return this.#many(Float32Array, 1, rows, (row) => [this.#predict(row)]);
  }

  /** Scores in real units, one for each output. */
  values<T extends Fields<T>>(row: Row | T): Float32Array {
    return this.#values(this.#inputs(row));
  }

  /** Scores in real units of several rows, row by row. */
  valuesMany<T extends Fields<T>>(rows: Rows | readonly T[]): Float32Array {
    return this.#many(Float32Array, this.info.outputs, rows, (row) => this.#values(row));
  }

  /**
   * The feature vector of a row: numbers from −127 to 127, 127 stands for 1. Those of the
   * family linear are the inputs as the model sees them, of 16 bits.
   */
  features<T extends Fields<T>>(row: Row | T): Int16Array {
    return this.#features(this.#inputs(row)).slice();
  }

  /** The feature vectors of several rows, row by row. */
  featuresMany<T extends Fields<T>>(rows: Rows | readonly T[]): Int16Array {
    return this.#many(Int16Array, this.info.features, rows, (row) => this.#features(row));
  }

  /**
   * A row as JSON text, `[1, 2.5, null]` (`null`: unknown), and the answer as
   * JSON text: class, name and probabilities, or values, and scores. Only in the
   * entry `koan-wasm/json`.
   */
  json(row: string): string {
    const session = this.#running();
    if (!host.answer) throw new Error('this runtime has no JSON: import from koan-wasm/json');
    return host.answer(session, row);
  }

  /**
   * Proves that this engine computes what the trainer computed; throws an
   * `Error` that names the difference if not.
   */
  selfTest(): void {
    this.#running().selfTest();
  }

  /** Gives the model's memory back; using the model afterwards is an error. */
  free(): void {
    this.#session?.free();
    this.#session = undefined;
  }

  #running(): Session {
    if (!this.#session) throw new Error('the model was freed');
    return this.#session;
  }

  /** The number of every input. */
  #inputs(row: unknown): Typed {
    this.#running();
    const isRaw = this.#columns && !ArrayBuffer.isView(row);
    const inputs = isRaw ? this.#columns!.row(row as NamedRow) : typed(row);
    const { length } = inputs;
    // The same error as the core's.
    if (length !== this.info.inputs) throw new Error(wrongLength('row', length, this.info.inputs));
    return this.#known(inputs);
  }

  /** The same numbers, of one row or of several. */
  #known(numbers: Typed): Typed {
    // Not the array's own: that of node's Buffer looks for the byte 0.
    if (!this.#allowNaN && Float32Array.prototype.includes.call(numbers, NaN)) {
      const at = numbers.findIndex(Number.isNaN);
      const { inputs } = this.info;
      const place = numbers.length > inputs ? `row ${Math.floor(at / inputs)}, ` : '';
      throw new Error(
        `${place}input ${at % inputs} is NaN: only a model loaded with { allowNaN: true } takes unknown numbers`,
      );
    }
    return numbers;
  }

  #label(number: number): string {
    return this.info.classNames[number] ?? String(number);
  }

  /** Scores, or features, of a row. They lie in the views until the next call. */
  #run(row: Typed, features = false): Views {
    const session = this.#running();
    if (!features && !this.info.outputs) throw new Error(unsuited('a model with outputs'));
    const views = session.views();
    views[1].set(row);
    session.run(features);
    return views;
  }

  #scores(row: Typed): Int32Array {
    return this.#run(row)[0];
  }

  #features(row: Typed): Int16Array {
    return this.#run(row, true)[2];
  }

  /** As `koan::class_of`: the lowest index wins a tie. */
  #class(row: Typed): number {
    this.#suits('classification');
    const scores = this.#scores(row);
    if (scores.length === 1) return Number(scores[0]! > 0);
    let best = 0;
    for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
    return best;
  }

  /** As `koan::Predictor::probabilities`, with the engine's exponential. */
  #probabilities(row: Typed): number[] {
    this.#suits('classification');
    const scores = this.#scores(row);
    const [slope = 1, intercept] = this.#calibration;
    const scale = slope * this.info.scoreScale;
    if (scores.length === 1) {
      // As `koan::Model::has_probabilities`: a detector of anomalies has none.
      if (intercept === undefined) throw new Error(unsuited('a model with probabilities'));
      const z = scores[0]! * scale + intercept;
      return [z, -z].map((z) => 1 / (1 + Math.exp(z)));
    }
    const highest = Math.max(...scores);
    const powers = Array.from(scores, (score) => Math.exp((score - highest) * scale));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  }

  #predict(row: Typed): number {
    this.#suits('regression');
    return this.#values(row)[0]!;
  }

  /** Products of two f32, rounded once: the core's bits. */
  #values(row: Typed): Float32Array {
    return Float32Array.from(this.#scores(row), (score) => Math.fround(score) * this.info.scoreScale);
  }

  /** The same error as the core's. */
  #suits(task: Task): void {
    this.#running();
    if (this.info.task !== task) throw new Error(unsuited(`a ${task} model`));
  }

  /** Results of several rows, `each` of every row. */
  #many<T extends Results>(
    Results: new (length: number) => T,
    each: number,
    rows: unknown,
    one: (row: Typed) => ArrayLike<number>,
  ): T {
    this.#running();
    const [count, next] = isList(rows) ? this.#list(rows) : this.#flat(typed(rows, true));
    const all = new Results(count * each);
    for (let i = 0; i < count; i++) all.set(one(next(i)), i * each);
    return all;
  }

  /** How many rows, and each of them. */
  #flat(numbers: Typed): [number, (i: number) => Typed] {
    const { inputs } = this.info;
    const count = numbers.length / inputs;
    if (count % 1) throw new Error(`${numbers.length} numbers are no rows of ${inputs}`);
    this.#known(numbers);
    return [count, (i) => numbers.subarray(i * inputs, (i + 1) * inputs)];
  }

  #list(rows: readonly unknown[]): [number, (i: number) => Typed] {
    return [
      rows.length,
      (i) => {
        try {
          return this.#inputs(rows[i]);
        } catch (error) {
          (error as Error).message = `row ${i}: ${(error as Error).message}`;
          throw error;
        }
      },
    ];
  }
}

/** The model that a module carries. */
function carried(module: WebAssembly.Module): Uint8Array {
  const [section] = WebAssembly.Module.customSections(module, 'koan');
  if (!section) throw new Error('the WebAssembly module has no custom section `koan`');
  return new Uint8Array(section);
}

/**
 * `Symbol.dispose` and its method, where the types know it: `using` frees the model. An older
 * TypeScript finds nothing to declare.
 */
type DisposeKey = SymbolConstructor extends { readonly dispose: infer Key extends symbol } ? Key : never;
export interface Model extends Record<DisposeKey, () => void> {}
