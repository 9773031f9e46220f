/** The pad: strokes by pointer or by keyboard. */

import type { Point, Stroke } from './digit.js';

/** Steps of the keyboard's cursor along a side. */
const GRID = 16;
/** Points closer than this, in sides, add work and no shape. */
const STEP = 0.01;

export class Pad {
  strokes: Stroke[] = [];
  #cursor: Point = { x: 8, y: 3 };
  #penDown = false;
  #pointer: number | undefined;
  /** What draws by itself, and the next frame of it; it goes when somebody draws. */
  #show: { frame: number } | undefined;
  #touched = false;

  /** @param changed called after every change */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly changed: () => void,
  ) {
    canvas.addEventListener('pointerdown', (event) => this.#start(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(end, () => (this.#pointer = undefined));
    }
    canvas.addEventListener('keydown', (event) => this.#key(event));
    for (const change of ['focus', 'blur'] as const) {
      canvas.addEventListener(change, () => this.draw());
    }
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.draw();
  }

  /**
   * Draws strokes by itself, unless somebody has drawn already; all at once for who wants
   * little motion.
   */
  play(strokes: readonly Stroke[], milliseconds: number, done: () => void): void {
    if (this.#touched) return done();
    const count = strokes.flat().length;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const show = { frame: 0 };
    this.#show = show;
    let start: number | undefined;
    const step = (now: number): void => {
      start ??= now;
      const share = still ? 1 : Math.min((now - start) / milliseconds, 1);
      // Slow where a hand is: at the start and at the end.
      let left = Math.ceil(count * share * share * (3 - 2 * share));
      this.strokes = strokes
        .map((stroke) => {
          const part = stroke.slice(0, Math.max(left, 0));
          left -= stroke.length;
          return part;
        })
        .filter((stroke) => stroke.length > 0);
      this.#changed();
      if (share < 1) show.frame = requestAnimationFrame(step);
      else done();
    };
    show.frame = requestAnimationFrame(step);
  }

  /** Somebody draws: what was drawn by itself goes. */
  #take(): void {
    this.#touched = true;
    if (!this.#show) return;
    cancelAnimationFrame(this.#show.frame);
    this.#show = undefined;
    this.strokes = [];
  }

  clear(): void {
    this.#take();
    this.strokes = [];
    this.#penDown = false;
    this.#changed();
  }

  undo(): void {
    this.#take();
    this.strokes.pop();
    this.#penDown = false;
    this.#changed();
  }

  #changed(): void {
    this.draw();
    this.changed();
  }

  /** Where an event is, from 0 to 1. */
  #at(event: PointerEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  #start(event: PointerEvent): void {
    if (this.#pointer !== undefined || event.button !== 0) return;
    this.#pointer = event.pointerId;
    this.canvas.setPointerCapture(event.pointerId);
    this.#take();
    this.#penDown = false;
    this.strokes.push([this.#at(event)]);
    this.#changed();
  }

  #move(event: PointerEvent): void {
    if (event.pointerId !== this.#pointer) return;
    const events = event.getCoalescedEvents?.() ?? [];
    const stroke = this.strokes.at(-1);
    for (const point of (events.length ? events : [event]).map((each) => this.#at(each))) {
      const last = stroke?.at(-1);
      const moved = last ? Math.hypot(point.x - last.x, point.y - last.y) : 0;
      if (moved >= STEP) stroke?.push(point);
    }
    this.#changed();
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
      event.key
    ];
    if (step || [' ', 'Delete', 'Backspace'].includes(event.key)) this.#take();
    if (step) {
      const move = (from: number, by: number): number => Math.min(Math.max(from + by, 1), GRID - 1);
      this.#cursor = { x: move(this.#cursor.x, step[0]!), y: move(this.#cursor.y, step[1]!) };
      if (this.#penDown) this.strokes.at(-1)?.push(this.#onGrid());
    } else if (event.key === ' ') {
      this.#penDown = !this.#penDown;
      if (this.#penDown) this.strokes.push([this.#onGrid()]);
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      this.strokes = [];
      this.#penDown = false;
    } else {
      return;
    }
    event.preventDefault();
    this.#changed();
  }

  #onGrid(): Point {
    return { x: this.#cursor.x / GRID, y: this.#cursor.y / GRID };
  }

  draw(): void {
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const size = this.canvas.width;
    const style = getComputedStyle(this.canvas);
    context.clearRect(0, 0, size, size);
    if (document.activeElement === this.canvas && this.canvas.matches(':focus-visible')) {
      context.fillStyle = style.getPropertyValue(this.#penDown ? '--accent' : '--bar');
      const { x, y } = this.#onGrid();
      context.fillRect(x * size - 14, y * size - 14, 28, 28);
    }
    context.strokeStyle = style.getPropertyValue('--ink');
    context.lineWidth = size * 0.07;
    context.lineCap = context.lineJoin = 'round';
    for (const stroke of this.strokes) {
      context.beginPath();
      stroke.forEach(({ x, y }) => context.lineTo(x * size, y * size));
      // A dot is a line of no length.
      const [first] = stroke;
      if (first && stroke.length === 1) context.lineTo(first.x * size, first.y * size + 0.1);
      context.stroke();
    }
  }
}
