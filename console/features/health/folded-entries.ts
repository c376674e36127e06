import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'

/** A run of entries of the same circuit, newest first; or a single entry. */
export type EntryGroup = readonly [TimelineEntry, ...TimelineEntry[]]

/**
 * Folds each run of entries of one circuit into one group, which stands where its newest entry is.
 * Circuits that keep opening fill pages with entries, and those of two circuits alternate: entries
 * of other circuits and the gateway's own tests do not end a run. An action of a person and a
 * change of the channel's state do, and stand alone, so that they do not disappear among them.
 */
export function foldEntries(entries: readonly TimelineEntry[]): readonly EntryGroup[] {
  const groups: [TimelineEntry, ...TimelineEntry[]][] = []
  const runs = new Map<string, [TimelineEntry, ...TimelineEntry[]]>()
  for (const entry of entries) {
    const circuit = circuitOf(entry)
    const run = circuit === null ? undefined : runs.get(circuit)
    if (run !== undefined) {
      run.push(entry)
      continue
    }
    const group: [TimelineEntry, ...TimelineEntry[]] = [entry]
    groups.push(group)
    if (circuit !== null) runs.set(circuit, group)
    else if (entry.by !== null || entry.kind !== 'tested') runs.clear()
  }
  return groups
}

/** Null for entries that are not about a circuit, and for actions of a person. */
function circuitOf({ kind, by, model, key }: TimelineEntry): string | null {
  if (!kind.startsWith('circuit-') || by !== null) return null
  return JSON.stringify([model ?? null, key === undefined ? 'all' : key])
}

export type FoldSummary = {
  readonly newest: TimelineEntry
  readonly oldest: TimelineEntry
  readonly openings: number
}

export function summaryOf(group: EntryGroup): FoldSummary {
  const [newest] = group
  return {
    newest,
    oldest: group.at(-1) ?? newest,
    openings: group.filter(({ kind }) => kind === 'circuit-opened').length,
  }
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** `12 min`, `3 hr`: how long something took, in its largest unit that it fills once. */
export function spanText(milliseconds: number, locale: string): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000))
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1]
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 } as const
  return new Intl.NumberFormat(locale, format).format(Math.round(seconds / size))
}
