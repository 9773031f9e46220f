/** What an error says. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
