type Kinds = readonly { readonly type: { readonly kind: string } }[]

/**
 * Returns the indexes of the options that start a new row of the form. A row contains two switches.
 * After an odd number of switches, half a row is free. A single field of another kind that follows
 * these switches fills the free half and does not start a new row.
 */
export function formRowStarts(options: Kinds): ReadonlySet<number> {
  const isFlag = (index: number) => options[index]?.type.kind === 'flag'
  const runs = options
    .map((_, index) => index)
    .filter((index) => index === 0 || isFlag(index) !== isFlag(index - 1))
  const lengthOf = (run: number) => (runs[run + 1] ?? options.length) - (runs[run] ?? 0)
  const isPaired = (run: number) =>
    !isFlag(runs[run] ?? 0) && run > 0 && lengthOf(run) === 1 && lengthOf(run - 1) % 2 === 1
  return new Set(runs.filter((_, run) => !isPaired(run)))
}
