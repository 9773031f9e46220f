/** A record of a table: its fields, and the line that it starts on. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/**
 * Records of delimited text; quotes as in RFC 4180, blank lines are skipped.
 *
 * @param every the records between two calls of `progress`
 * @param progress told which share of the text is done
 */
export function parse(text: string, every: number, progress: (share: number) => void): CsvRecord[] {
  const firstLine = text.slice(0, (text.indexOf('\n') + 1 || text.length + 1) - 1);
  const count = (mark: string): number => firstLine.split(mark).length;
  const delimiter = [',', '\t', ';'].reduce((a, b) => (count(b) > count(a) ? b : a));
  const records: CsvRecord[] = [];
  let [fields, field, quoted, line, start]: [string[], string, boolean, number, number] = [[], '', false, 1, 1];
  let done = 0;
  const end = (): void => {
    fields.push(field.trim());
    if (fields.length > 1 || fields[0] !== '') records.push({ line: start, fields });
    if (records.length % every === 0) progress(done / text.length);
    [fields, field] = [[], ''];
  };
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
    const mark = text[i]!;
    done = i;
    if (mark === '\n') line++;
    if (quoted) {
      if (mark !== '"') field += mark;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (mark === '"' && field.trim() === '') {
      [quoted, field] = [true, ''];
    } else if (mark === delimiter) {
      fields.push(field.trim());
      field = '';
    } else if (mark === '\n') {
      end();
      start = line;
    } else {
      field += mark;
    }
  }
  if (quoted) throw new Error(`line ${start}: a quote is opened and not closed`);
  end();
  return records;
}
