/** Delimited text, by the rules of `host/data/src/delimited.rs` and `records.rs`. */

import { numberOf, trimmed } from './fields.js';

/** A record of a table: its fields, and the line that it starts on. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

const NOT_CLOSED = 'a quote is opened and not closed';

/**
 * Records of delimited text; quotes as in RFC 4180, blank lines are skipped.
 *
 * @param fits which numbers of fields are to be expected
 * @param every the records between two calls of `progress`
 * @param progress told which share of the text is done
 */
export function parse(
  given: string,
  fits: (fields: number) => boolean,
  every: number,
  progress: (share: number) => void,
): CsvRecord[] {
  const { text, delimiter } = told(given.replace(/^\ufeff/, ''), fits);
  const opened = new RegExp(`[^\\S\\n${delimiter}]*"`, 'y');
  const closed = new RegExp(`[^\\S\\n${delimiter}]*(${delimiter}|\\n|$)`, 'y');
  const decimals: Decimals[] = [];
  const records: CsvRecord[] = [];
  const endOf = (at: number): number => (text.indexOf('\n', at) + 1 || text.length + 1) - 1;
  for (let [at, line] = [0, 1]; at < text.length; ) {
    const [start, first] = [at, line];
    at = endOf(start);
    const whole = text.slice(start, at);
    let fields: string[] = [];
    if (!whole.includes('"')) {
      fields = whole.split(delimiter).map(trimmed);
    } else {
      at = start;
      let behind: string | undefined = delimiter;
      while (behind === delimiter) {
        opened.lastIndex = at;
        let field = '';
        if (opened.test(text)) {
          let end = opened.lastIndex - 1;
          do {
            const next = text.indexOf('"', end + 1);
            if (next < 0) throw new Error(`line ${line}: ${NOT_CLOSED}`);
            field += text.slice(end + 1, next);
            end = next + 1;
            if (text[end] === '"') field += '"';
          } while (text[end] === '"');
          line += field.split('\n').length - 1;
          closed.lastIndex = end;
          behind = closed.exec(text)?.[1];
          if (behind === undefined) throw new Error(`line ${line}: text after the quote that ends a field`);
          at = closed.lastIndex;
        } else {
          const rest = text.slice(at, endOf(at));
          const length = (rest.indexOf(delimiter) + 1 || rest.length + 1) - 1;
          field = rest.slice(0, length);
          at += length;
          behind = text[at++];
        }
        fields.push(trimmed(field));
      }
      // The line's end, which is behind the last field.
      at = behind ? at - 1 : text.length;
      const lines = text.slice(start, at).split('\n');
      const isRow = (part: string): boolean => part.split(delimiter).length === fields.length;
      if (lines.length > 1 && fields.length > 1 && lines.every(isRow)) {
        throw new Error(`line ${first}: quotes hold what look like rows, up to line ${line}`);
      }
    }
    at++;
    line++;
    if (trimmed(whole) === '') continue;
    // Between runs of spaces there are no empty fields.
    if (delimiter === ' ') fields = fields.filter(Boolean);
    if (delimiter === ';') pointsForCommas(fields, decimals, first);
    records.push({ line: first, fields });
    if (records.length % every === 0) progress(Math.min(at / text.length, 1));
  }
  return records;
}

/** The text and what is between its fields, which the first lines tell. */
function told(text: string, fits: (fields: number) => boolean): { text: string; delimiter: string } {
  const [header, row] = text.split('\n', 1000).filter((line) => line.trim());
  const delimiter = delimiterOf((header ?? '').trim(), fits);
  // A header between commas over rows between spaces, as loggers write it.
  if (!header || !row || row.includes(delimiter) || /[ \t"]/.test(header.trim())) return { text, delimiter };
  const names = header.split(delimiter).length;
  if (names < 2 || wordsOf(row.trim()) !== names) return { text, delimiter };
  return { text: text.replace(header, () => header.replaceAll(delimiter, ' ')), delimiter: ' ' };
}

const wordsOf = (line: string): number => line.split(' ').filter(Boolean).length;

function delimiterOf(line: string, fits: (fields: number) => boolean): string {
  // Commas that are all within numbers delimit nothing.
  const numbers = [';', '\t'].find((mark) => {
    const parts = line.split(mark).map(trimmed);
    const commas = parts.filter((part) => part.includes(','));
    return parts.length > 1 && commas.length > 0 && commas.every(isDecimalComma);
  });
  if (numbers) return numbers;
  const plain = line.replace(/"[^"]*("|$)/g, '');
  const counted = [',', '\t', ';'].map((mark) => ({ mark, count: plain.split(mark).length }));
  const found = counted.filter(({ count }) => count > 1);
  const fitting = found.find(({ count }) => fits(count));
  if (fitting) return fitting.mark;
  if (found.length > 0) return found.reduce((a, b) => (b.count > a.count ? b : a)).mark;
  const words = wordsOf(line);
  return words > 1 && (!fits(1) || fits(words)) ? ' ' : ',';
}

/** The lines of a column's first numbers with a comma and with a point. */
interface Decimals {
  comma?: number;
  point?: number;
}

const isDecimalComma = (field: string): boolean =>
  /^[\d+\-eE]*,[\d+\-eE]*$/.test(field) && typeof numberOf(field.replace(',', '.')) === 'number';

/** Makes numbers with decimal commas numbers with points; a column with both is refused. */
function pointsForCommas(fields: string[], columns: Decimals[], line: number): void {
  fields.forEach((field, index) => {
    const mark = /[,.]/.exec(field)?.[0];
    if (!mark) return;
    const seen = (columns[index] ??= {});
    if (mark === ',' && isDecimalComma(field)) {
      fields[index] = field.replace(',', '.');
      seen.comma ??= line;
    } else if (mark === '.' && typeof numberOf(field) === 'number') {
      seen.point ??= line;
    }
    const { comma, point } = seen;
    if (comma && point) {
      const other = line === comma ? point : comma;
      throw new Error(
        `line ${line}, column ${index + 1}: numbers with a decimal comma and, in line ${other}, with a decimal point`,
      );
    }
  });
}
