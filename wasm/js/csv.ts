/** Delimited text, by the rules of `host/data/src/delimited.rs` and `records.rs`. */

import { isNumber, trimmed } from './fields.js';

/** A record of a table: its fields, and the line that it starts on. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

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
  const blanks = `[^\\S\\n${delimiter}]*`;
  const quoted = `${blanks}"([^"]*(?:""[^"]*)*)"${blanks}`;
  const next = new RegExp(`(?:${quoted}|(?!${blanks}")([^\\n${delimiter}]*))([${delimiter}\\n]|$)`, 'y');
  const decimals: Decimals = { columns: [] };
  const records: CsvRecord[] = [];
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const start = at;
    const first = line;
    at = (text.indexOf('\n', start) + 1 || text.length + 1) - 1;
    const whole = text.slice(start, at);
    let fields: string[] = [];
    // Between runs of spaces there are no empty fields but those in quotes.
    const isField = (field: string): boolean => delimiter !== ' ' || field !== '';
    if (!whole.includes('"')) {
      fields = whole.split(delimiter).map(trimmed).filter(isField);
    } else {
      let delimiters = -1;
      let behind: string | undefined = delimiter;
      for (at = start; behind === delimiter; at = next.lastIndex) {
        next.lastIndex = at;
        const found = next.exec(text);
        if (!found) {
          const [opened] = /^[^"]*"[^"]*(""[^"]*)*/.exec(text.slice(at))!;
          if (opened.length === text.length - at) throw new Error(`line ${line}: a quote is opened and not closed`);
          line += opened.split('\n').length - 1;
          throw new Error(`line ${line}: text after the quote that ends a field`);
        }
        const field = found[1]?.replaceAll('""', '"') ?? found[2]!;
        behind = found[3];
        delimiters++;
        line += field.split('\n').length - 1;
        if (found[1] !== undefined || isField(trimmed(field))) fields.push(trimmed(field));
      }
      // The line's end, which is behind the last field.
      at = behind ? at - 1 : text.length;
      const lines = text.slice(start, at).split('\n');
      const isRow = (part: string): boolean => part.split(delimiter).length - 1 === delimiters;
      if (lines.length > 1 && delimiters > 0 && lines.every(isRow)) {
        throw new Error(`line ${first}: quotes hold what look like rows, up to line ${line}`);
      }
    }
    at++;
    line++;
    if (!trimmed(whole)) continue;
    if (delimiter === ';') pointsForCommas(fields, decimals, first);
    records.push({ line: first, fields });
    if (records.length % every === 0) progress(Math.min(at / text.length, 1));
  }
  return records;
}

/** The text and what is between its fields, which the first lines tell. */
function told(given: string, fits: (fields: number) => boolean): { text: string; delimiter: string } {
  // A first line `sep=;`, as programs for sheets write it; saved again, it may end in more of them.
  const [line, named] = /^sep=([,;\t|: ])\1*(?=\r?(\n|$))/i.exec(given) ?? [''];
  const text = given.slice(line.length);
  if (/^[^\n]*\r[^\n]*$/.test(text.trim())) throw new Error('its lines end in carriage returns alone, not in line feeds');
  const [header = '', row = ''] = text.split('\n', 1000).filter((line) => line.trim());
  const delimiter = named ?? delimiterOf(header.trim(), row, fits);
  if (delimiter === '|' && [header, row].every((line) => /^\|.*\|$/.test(line.trim()))) {
    throw new Error(
      'its lines begin and end with `|`, as tables of Markdown do: leave these bars out, and the line of dashes',
    );
  }
  if (named) return { text, delimiter };
  // A header between commas over rows between spaces, as loggers write it.
  const names = header.split(delimiter).length;
  const isOther = names > 1 && wordsOf(row.trim()) === names && !row.includes(delimiter) && !/[ \t"]/.test(header.trim());
  return isOther
    ? { text: text.replace(header, () => header.replaceAll(delimiter, ' ')), delimiter: ' ' }
    : { text, delimiter };
}

/** The parts between the marks outside quotes. */
const partsOf = (line: string, mark: string): number => line.replace(/"[^"]*("|$)/g, '').split(mark).length;

const wordsOf = (line: string): number => line.split(' ').filter(Boolean).length;

function delimiterOf(line: string, row: string, fits: (fields: number) => boolean): string {
  // Commas that are all within numbers delimit nothing.
  const numbers = [';', '\t'].find((mark) => {
    const parts = line.split(mark).map(trimmed);
    const commas = parts.filter((part) => part.includes(','));
    return parts.length > 1 && commas.length && commas.every(isDecimalComma);
  });
  if (numbers) return numbers;
  const count = (mark: string): number => partsOf(line, mark);
  const found = [',', '\t', ';'].filter((mark) => count(mark) > 1);
  const fitting = found.filter((mark) => fits(count(mark)));
  const likely = fitting.length ? fitting : found;
  if (likely.length) return likely.reduce((a, b) => (count(b) > count(a) ? b : a));
  // Where nothing else delimits, and as many bars are in the next line: a text may have some.
  const bars = count('|');
  if (bars > 1 && (!row || partsOf(row, '|') === bars) && (!fits(1) || fits(bars))) return '|';
  const words = wordsOf(line);
  return words > 1 && (!fits(1) || fits(words)) ? ' ' : ',';
}

/** What is known of the numbers between semicolons. */
interface Decimals {
  /** The lines of each column's first numbers with a comma and with a point. */
  columns: { comma?: number; point?: number }[];
  /** The first column with a decimal comma, from 1. */
  comma?: number;
  /** The first column with a decimal point, from 1. */
  point?: number;
  /** Whether some comma is none between thousands. */
  plain?: boolean;
  /** What is said of the first number that may have points between its thousands, or commas. */
  thousands?: string;
  grouped?: string;
}

const isDecimalComma = (field: string): boolean =>
  /^[\d+\-eE]*,[\d+\-eE]*$/.test(field) && isNumber(field.replace(',', '.'));

/** 1.200, not 0.200 or 1.20. */
const THOUSANDS = /^-?[1-9]\d{0,2}(\.\d{3})+$/;

/** What is said of a number that may have such marks between its thousands. */
const maybe = (line: number, field: string, index: number, mark: string): string =>
  `line ${line}: ${field} in column ${index + 1} may be ${field.replaceAll(mark, '')}`;

/**
 * Makes numbers with decimal commas numbers with points; a column with both is refused, and what may be thousands
 * where there are decimal commas.
 */
function pointsForCommas(fields: string[], all: Decimals, line: number): void {
  fields.forEach((field, index) => {
    const seen = (all.columns[index] ??= {});
    if (isDecimalComma(field)) {
      fields[index] = field.replace(',', '.');
      if (!THOUSANDS.test(fields[index]!)) all.plain = true;
      else all.grouped ??= maybe(line, field, index, ',');
      seen.comma ??= line;
      all.comma ??= index + 1;
    } else if (field.includes('.')) {
      if (isNumber(field)) seen.point ??= line;
      if (THOUSANDS.test(field)) all.thousands ??= maybe(line, field, index, '.');
      else if (seen.point) all.point ??= index + 1;
    }
    const { comma, point } = seen;
    if (comma && point) {
      // One of them is of this line.
      throw new Error(
        `line ${line}, column ${index + 1}: numbers with a decimal comma and, in line ${comma + point - line}, with a decimal point`,
      );
    }
  });
  const { comma, thousands, point, plain, grouped } = all;
  if (comma && thousands) {
    throw new Error(`${thousands}, since column ${comma} has decimal commas: write numbers without points between thousands`);
  }
  if (point && grouped && !plain) {
    throw new Error(`${grouped}, since column ${point} has decimal points: write numbers without commas between thousands`);
  }
}
