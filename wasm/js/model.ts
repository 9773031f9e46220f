import { At, Section, numbersOf } from './blob.js';
import { unsuited, wrongLength } from './message.js';
import { bytesOf, init, moduleOf, type Bytes, type Source } from './runtime.js';
import { Session, type Views } from './session.js';

/**
 * A row of numbers, one for each input; or several rows, one behind the other.
 * The same numbers give the same bits in every type.
 */
export type Row = Float32Array | Int16Array | Uint8Array;

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
  /** Bytes of memory that a prediction works in. */
  readonly bufferBytes: number;
  /** Real value of a score of 1. */
  readonly scoreScale: number;
  /** The seed of every random draw. */
  readonly seed: bigint;
  /** The trainer's notes: JSON, or empty. */
  readonly notes: string;
}

/** What a model may need at most. */
export interface Limits {
  /**
   * The most work that a prediction may take: see {@link Model.work}. A model that needs
   * more is refused; without this, what the format allows, 2^28.
   */
  readonly maxWork?: number;
}

const TASKS = ['features', 'regression', 'classification'] as const;

type Task = (typeof TASKS)[number];

/** Arrays of results. */
type Numbers = Float32Array | Int32Array | Int16Array | Uint8Array;

/**
 * A koan model, ready to predict.
 *
 * Methods take one row, or with `Many` in their name several rows one behind
 * the other in one array. What cannot be done throws an `Error` that says why:
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
  /** What scores are multiplied by for probabilities, and what is added. */
  readonly #calibration: readonly [number, number];

  private constructor(bytes: Uint8Array, { maxWork = Infinity }: Limits = {}) {
    const session = new Session(bytes, maxWork);
    const { blob, task, scores, row, vector, scoreScale, bufferBytes, work } = session.views();
    this.work = work;
    const names = session.text(Section.ClassNames);
    this.info = Object.freeze({
      task: TASKS[task]!,
      inputs: row.length,
      outputs: scores.length,
      classes: task === 2 ? Math.max(scores.length, 2) : 0,
      classNames: Object.freeze(names ? names.split('\n') : []),
      features: vector.length,
      bytes: blob.length,
      bufferBytes,
      scoreScale,
      seed: numbersOf(blob).getBigUint64(At.Seed, true),
      notes: session.text(Section.Notes),
    });
    const stored = numbersOf(session.section(Section.Calibration));
    this.#calibration = stored.byteLength
      ? [stored.getFloat32(0, true), stored.getFloat32(4, true)]
      : [1, 0];
    this.#session = session;
  }

  /**
   * Loads a model, and starts the runtime if nobody has.
   *
   * @param source the model's bytes, its address (a `URL` or text), a `Response`,
   * or a compiled `WebAssembly.Module` that carries the model in a custom
   * section `koan` (see {@link embed}), which is then also the runtime
   * @param limits what the model may need at most: for models of somebody else
   */
  static async load(source: Source | PromiseLike<Source>, limits?: Limits): Promise<Model> {
    const given = await source;
    const module = moduleOf(given);
    if (module) {
      const [section] = WebAssembly.Module.customSections(module, 'koan');
      if (!section) throw new Error('the WebAssembly module has no custom section `koan`');
      const isRuntime = WebAssembly.Module.exports(module).length > 0;
      await init(isRuntime ? module : undefined);
      return Model.from(section, limits);
    }
    const [blob] = await Promise.all([bytesOf(given as Bytes), init()]);
    return new Model(blob, limits);
  }

  /**
   * Loads a model from its bytes, at once; the runtime must have been started
   * with `await init()`.
   */
  static from(bytes: BufferSource, limits?: Limits): Model {
    return new Model(
      ArrayBuffer.isView(bytes)
        ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : new Uint8Array(bytes),
      limits,
    );
  }

  /** The class of a row: its number, from 0; `info.classNames` has its name. */
  classify(row: Row): number {
    return this.#class(checked(row));
  }

  /** The classes of several rows. */
  classifyMany(rows: Row): Uint8Array {
    return this.#many(Uint8Array, 1, rows, (row) => [this.#class(row)]);
  }

  /** The exact integer scores of a row, one for each output: the same on every device. */
  scores(row: Row): Int32Array {
    return this.#scores(checked(row)).slice();
  }

  /** The scores of several rows, row by row. */
  scoresMany(rows: Row): Int32Array {
    return this.#many(Int32Array, this.info.outputs, rows, (row) => this.#scores(row));
  }

  /**
   * The probability of every class. Other than the scores, these are the engine's
   * floats: the last bits may differ from one to the next.
   */
  probabilities(row: Row): Float32Array {
    return Float32Array.from(this.#probabilities(checked(row)));
  }

  /** The probabilities of several rows, row by row. */
  probabilitiesMany(rows: Row): Float32Array {
    return this.#many(Float32Array, this.info.classes, rows, (row) => this.#probabilities(row));
  }

  /** The value of a regression's first output, in the target's units. */
  predict(row: Row): number {
    return this.#predict(checked(row));
  }

  /** The values of the first output of several rows. */
  predictMany(rows: Row): Float32Array {
    return this.#many(Float32Array, 1, rows, (row) => [this.#predict(row)]);
  }

  /** Scores in real units, one for each output. */
  values(row: Row): Float32Array {
    return this.#values(checked(row));
  }

  /** Scores in real units of several rows, row by row. */
  valuesMany(rows: Row): Float32Array {
    return this.#many(Float32Array, this.info.outputs, rows, (row) => this.#values(row));
  }

  /**
   * The feature vector of a row: numbers from −127 to 127, 127 stands for 1. Those of the
   * family linear are the inputs as the model sees them, of 16 bits.
   */
  features(row: Row): Int16Array {
    return this.#run(checked(row), true).vector.slice();
  }

  /** The feature vectors of several rows, row by row. */
  featuresMany(rows: Row): Int16Array {
    return this.#many(Int16Array, this.info.features, rows, (row) => this.#run(row, true).vector);
  }

  /**
   * A row as JSON text, `[1, 2.5, null]` (`null`: unknown), and the answer as
   * JSON text: class, name and probabilities, or values, and scores. Only in the
   * entry `koan-wasm/json`.
   */
  json(row: string): string {
    return this.#running().json(row);
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

  /** Scores, or features, of a row. They lie in the views until the next call. */
  #run(row: Row, features = false): Views {
    const session = this.#running();
    expect('row', row.length, this.info.inputs);
    if (!features && !this.info.outputs) throw new Error(unsuited('a model with outputs'));
    const views = session.views();
    views.row.set(row);
    session.run(features);
    return views;
  }

  #scores(row: Row): Int32Array {
    return this.#run(row).scores;
  }

  /** As `koan::class_of`: the lowest index wins a tie. */
  #class(row: Row): number {
    this.#suits('classification');
    const scores = this.#scores(row);
    if (scores.length === 1) return Number(scores[0]! > 0);
    let best = 0;
    for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
    return best;
  }

  /** As `koan::Predictor::probabilities`, with the engine's exponential. */
  #probabilities(row: Row): number[] {
    this.#suits('classification');
    const scores = this.#scores(row);
    const [slope, intercept] = this.#calibration;
    const scale = slope * this.info.scoreScale;
    if (scores.length === 1) {
      const z = scores[0]! * scale + intercept;
      return [z, -z].map((z) => 1 / (1 + Math.exp(z)));
    }
    const highest = Math.max(...scores);
    const powers = Array.from(scores, (score) => Math.exp((score - highest) * scale));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  }

  #predict(row: Row): number {
    this.#suits('regression');
    return this.#values(row)[0]!;
  }

  /** Products of two f32, rounded once: the core's bits. */
  #values(row: Row): Float32Array {
    return Float32Array.from(this.#scores(row), (score) => Math.fround(score) * this.info.scoreScale);
  }

  /** The same error as the core's. */
  #suits(task: Task): void {
    this.#running();
    if (this.info.task !== task) throw new Error(unsuited(`a ${task} model`));
  }

  /** Results of several rows, `each` of every row. */
  #many<T extends Numbers>(
    Results: new (length: number) => T,
    each: number,
    rows: Row,
    one: (row: Row) => ArrayLike<number>,
  ): T {
    this.#running();
    const { inputs } = this.info;
    const numbers = checked(rows).length;
    const count = Math.ceil(numbers / inputs);
    expect('rows', numbers, count * inputs);
    const all = new Results(count * each);
    for (let i = 0; i < count; i++) {
      all.set(one(rows.subarray(i * inputs, (i + 1) * inputs)), i * each);
    }
    return all;
  }
}

/** Rows of another type would be read as other numbers than the caller means. */
function checked(rows: Row): Row {
  const type: unknown = Object.prototype.toString.call(rows).slice(8, -1);
  if (type !== 'Float32Array' && type !== 'Int16Array' && type !== 'Uint8Array') {
    throw new TypeError(`a row is a Float32Array, an Int16Array or a Uint8Array, not ${type}`);
  }
  return rows;
}

/** The same error as the core's. */
function expect(what: string, given: number, needed: number): void {
  if (given !== needed) throw new Error(wrongLength(what, given, needed));
}

// Where the engine knows `using`, a model is disposed of by it.
export interface Model extends Disposable {}
if (Symbol.dispose) {
  Object.defineProperty(Model.prototype, Symbol.dispose, { value: Model.prototype.free });
}

/**
 * A runtime that carries a model: `Model.load` of the compiled result needs no
 * second file.
 *
 * @param runtime the bytes of `koan.wasm` or `koan-simd.wasm`
 * @param blob the model's bytes
 */
export function embed(runtime: Uint8Array, blob: Uint8Array): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode('koan');
  const content = [...leb128(name.length), ...name];
  const head = [0, ...leb128(content.length + blob.length), ...content];
  const whole = new Uint8Array(runtime.length + head.length + blob.length);
  whole.set(runtime);
  whole.set(head, runtime.length);
  whole.set(blob, runtime.length + head.length);
  return whole;
}

/** A number as WebAssembly writes lengths: seven bits a byte, the lowest first. */
function leb128(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb128(value >>> 7)];
}
