/** What is in the files that people drop. Loaded with the first of them. */

/** Bytes of a table, at most. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** What files begin with that are no tables, and what they are. */
const KINDS: [start: string, what: string][] = [
  ['KOAN', 'a koan model: drop it on the panel above, and here a table'],
  ['PK\x03\x04', 'an Excel workbook or another zip archive, not text: save the sheet as CSV'],
  ['\xd0\xcf\x11\xe0', 'an old Excel or Word file, not text: save the sheet as CSV'],
  ['\x89PNG', 'a PNG picture, not a table'],
  ['\xff\xd8\xff', 'a JPEG picture, not a table'],
  ['GIF8', 'a GIF picture, not a table'],
  ['%PDF', 'a PDF document, not a table'],
  ['\xff\xfe', 'UTF-16 text: save it as UTF-8'],
  ['\xfe\xff', 'UTF-16 text: save it as UTF-8'],
];
/** What `koan train` reads besides text: arrays of NumPy, alone or in an archive. */
const ARRAYS = /^(\x93NUMPY|PK\x03\x04.{26}[\w.-]+\.npy)/s;

/** How text begins that `koan train` reads and the page does not: a header of ARFF or of PROBEN1. */
const HEADED = /^(\s|%.*\n)*(@relation|@attribute|bool_in=|real_in=)/i;

/**
 * The text of a table's file, unpacked if it is packed; none of a file of arrays.
 *
 * @throws what the file is instead
 */
export async function textIn(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const whole = bytes[0] === 0x1f && bytes[1] === 0x8b ? await unpacked(bytes) : bytes;
  const start = String.fromCharCode(...whole.subarray(0, 256));
  if (ARRAYS.test(start)) return undefined;
  const [, what] = KINDS.find(([magic]) => start.startsWith(magic)) ?? [];
  if (what) throw new Error(what);
  if (/^([^\0]\0){4}|^(\0[^\0]){4}/.test(start)) throw new Error('UTF-16 text: save it as UTF-8');
  const isText = !/[\0-\x08\x0e-\x1f]/.test(start);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(whole);
    if (!text.includes('\0')) return text;
  } catch {
    if (isText) throw new Error('text in Latin-1 or another old encoding: save it as UTF-8');
  }
  throw new Error('neither a koan model nor a table of text');
}

/** Whether the page reads the rows of a text, of which it then shows predictions. */
export const isTable = (text: string): boolean => !HEADED.test(text);

/**
 * The text of a table's file.
 *
 * @throws what the file is instead
 */
export async function tableIn(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const text = await textIn(bytes);
  if (text === undefined) throw new Error('arrays of NumPy, not a table of text');
  if (!isTable(text)) throw new Error('ARFF or PROBEN1: drop it on the panel below, which trains on it, and here a table');
  return text;
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    const reader = stream.getReader();
    for (let next = await reader.read(); next.value && size <= MOST_BYTES; next = await reader.read()) {
      parts.push(next.value);
      size += next.value.length;
    }
  } catch {
    throw new Error('gzip of a damaged file, or of several in one');
  }
  if (size > MOST_BYTES) throw new Error(`more than ${MOST_BYTES.toLocaleString('en')} bytes when it is unpacked`);
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * The first lines of a text that are not blank, and how many they are with the blank ones; nothing if
 * it has no more, or quotes, which may hold lines.
 */
export function firstRows(text: string, rows: number): { text: string; lines: number } | undefined {
  if (text.includes('"')) return undefined;
  let [at, lines] = [0, 0];
  for (let left = rows; left > 0; lines++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return undefined;
    if (text.slice(at, end).trim()) left--;
    at = end + 1;
  }
  return text.slice(at).trim() ? { text: text.slice(0, at), lines } : undefined;
}
