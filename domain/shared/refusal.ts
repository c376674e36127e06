/**
 * A business rule said no. A value, never thrown: `code` is from the aggregate's closed union,
 * `details` holds what the words need (a field name, a limit), never free text.
 */
export type Refusal<Code extends string = string> = {
  readonly refused: Code
  readonly details?: Readonly<Record<string, string | number>>
}

export const refuse = <Code extends string>(
  refused: Code,
  details?: Readonly<Record<string, string | number>>,
): Refusal<Code> => (details === undefined ? { refused } : { refused, details })

export const isRefusal = <R extends Refusal>(outcome: readonly unknown[] | R): outcome is R =>
  !Array.isArray(outcome)
