import { Section, decoded } from './blob.js';
import { unsuited, wrongLength } from './message.js';
import type { Session } from './session.js';

/** What the runtime answers to a row of JSON; only the entries for JSON have it. */
export function answer(session: Session, row: string): string {
  const { heap, json } = session.runtime;
  if (!json) throw new Error('this runtime has no JSON: it is not koan-json.wasm');
  const [scores, { length: inputs }] = session.views();
  if (!scores.length) throw new Error(unsuited('a model with outputs'));
  const text = new TextEncoder().encode(row);
  // Probabilities of two classes follow from one score.
  const most = Math.max(scores.length, 2);
  // A name's byte becomes at most six, a number at most 16 with its comma.
  const bytes = 128 + 6 * session.section(Section.ClassNames).length + 16 * (scores.length + most);
  const words = most + Math.ceil((text.length + bytes) / 4);
  const range = heap.take(4 * words);
  try {
    const start = range[0] + 4 * most;
    new Uint8Array(heap.memory.buffer, start).set(text);
    const length = json(...session.places(), range[0], words, most, text.length);
    if (length === -1) throw new Error('the text is not a JSON array of numbers');
    if (length < 0) throw new Error(wrongLength('row', -2 - length, inputs));
    return decoded(new Uint8Array(heap.memory.buffer, start + text.length, length));
  } finally {
    heap.give([range]);
  }
}
