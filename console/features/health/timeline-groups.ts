import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'

/**
 * Entries of a channel's timeline that are shown together: a single entry, or several entries of
 * one circuit breaker, newest first. A circuit breaker stops calls to a failing channel, model or
 * key for a while.
 */
export type EntryGroup = readonly [TimelineEntry, ...TimelineEntry[]]

/**
 * Groups entries of the same circuit breaker. A user's action or a change of the channel ends all
 * groups, because it may explain the entries that follow it. An automatic test does not end a
 * group.
 */
export function groupEntries(entries: readonly TimelineEntry[]): readonly EntryGroup[] {
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

/**
 * Returns a text that identifies the circuit breaker of an entry within its channel. Returns null
 * for an entry that no circuit breaker has caused, such as a user's action.
 */
function circuitOf({ kind, by, model, key }: TimelineEntry): string | null {
  if (!kind.startsWith('circuit-') || by !== null) return null
  return JSON.stringify([model ?? null, key === undefined ? 'all' : key])
}

export type GroupSummary = {
  readonly newest: TimelineEntry
  readonly oldest: TimelineEntry
  readonly openings: number
}

export function summaryOf(group: EntryGroup): GroupSummary {
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

/** Formats a duration in its largest unit, such as `12 min` or `3 hr`. */
export function spanText(milliseconds: number, locale: string): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000))
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1]
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 } as const
  return new Intl.NumberFormat(locale, format).format(Math.round(seconds / size))
}
