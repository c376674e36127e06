import type { Core } from '#infra/core-dependencies.ts'
import {
  circuitEntriesAt,
  statusEntryAt,
  type TimelineQuery,
  type TimelineEntry as TimelineRow,
  termsChangesOf,
  timelineOf,
} from '#projections/channel-timeline/query.ts'
import { findChannel } from '#projections/channels/query.ts'
import { usersByIds } from '#projections/users/query.ts'
import type { ChannelTimeline, StateAt, TimelineEntry } from '../../contract/channel-timeline.ts'
import { userIdOf } from '../../read-dependencies-and-query-parameters.ts'

type TimelineRequest = TimelineQuery & { readonly page: number; readonly at: number | null }

/**
 * Returns the history of a channel. If `at` is not null, also returns the channel's state at that
 * time. Returns null if the channel never existed.
 */
export async function timelineResponse(
  { db, now }: Core,
  { at, page, ...period }: TimelineRequest,
): Promise<ChannelTimeline | null> {
  const { channelId, from, to, offset, limit } = period
  const [terms, channel] = await Promise.all([
    termsChangesOf(db, channelId, Math.max(to, at ?? 0)),
    findChannel(db, channelId),
  ])
  const until = await endOf(db, channelId, channel?.isDeleted === true, now())
  const expiries = expiriesOf(terms, until).filter((one) => one.at >= from && one.at <= to)
  const start = Math.max(0, offset - expiries.length)
  const wider = { ...period, offset: start, limit: limit + expiries.length }
  const events = await timelineOf(db, wider)
  if (channel === null && terms.length === 0 && events.total === 0) return null
  const items = mergePage(events.rows, expiries, { start, offset, limit })
  const state = at === null ? null : await stateAt(db, channelId, at, terms)
  const names = await namesOf(db, [...items, ...(state?.because == null ? [] : [state.because])])
  const fields = changedFields(terms)
  const keyRefs = channel?.keyRefs ?? []
  const toResponse = (entry: Entry): TimelineEntry => ({
    ...entryResponse(entry, names, fields),
    ...keyResponse(entry, keyRefs),
  })
  const because = state === null || state.because === null ? null : toResponse(state.because)
  return {
    items: items.map(toResponse),
    page,
    total: events.total + expiries.length,
    state_at: state === null ? null : { ...state, because },
  }
}

/**
 * Returns the latest time at which an expiry of the channel can have occurred: the time of the
 * channel's deletion, or the current time if the channel still exists.
 */
async function endOf(
  db: Core['db'],
  channelId: number,
  isDeleted: boolean,
  now: number,
): Promise<number> {
  if (!isDeleted) return now
  return (await statusEntryAt(db, channelId, now))?.at ?? now
}

type StateAtMoment = Omit<StateAt, 'because'> & { readonly because: Entry | null }

async function stateAt(
  db: Core['db'],
  channelId: number,
  at: number,
  terms: readonly TimelineRow[],
): Promise<StateAtMoment> {
  const [status, circuits] = await Promise.all([
    statusEntryAt(db, channelId, at),
    circuitEntriesAt(db, channelId, at),
  ])
  if (status === null) return { at, state: 'none', because: null }
  const off = offState(status)
  if (off !== null) return { at, state: off, because: status }
  const end = expirySetBy(terms.filter((entry) => entry.at <= at))
  if (end > 0 && end * 1_000 <= at) return { at, state: 'expired', because: expiryAt(end) }
  const whole = circuits.find(({ detail }) => detail.model == null && detail.keyRef == null)
  if (whole !== undefined) {
    const isOpen = whole.kind === 'circuit-opened'
    return { at, state: isOpen ? 'circuit-open' : 'circuit-half-open', because: whole }
  }
  const part = circuits.at(-1)
  if (part !== undefined) return { at, state: 'partly-open', because: part }
  return { at, state: 'on', because: status }
}

function offState({ kind, detail }: Entry): StateAt['state'] | null {
  switch (kind) {
    case 'disabled':
      return 'off'
    case 'auto-disabled':
      return 'auto-off'
    case 'deleted':
      return 'deleted'
    default:
      return kind === 'created' && detail.isEnabled === false ? 'off' : null
  }
}

async function namesOf(db: Core['db'], entries: readonly Entry[]): Promise<Map<number, string>> {
  const ids = new Set(entries.flatMap(({ actor }) => userIdOf(actor) ?? []))
  if (ids.size === 0) return new Map()
  const users = await usersByIds(db, [...ids])
  return new Map(users.map(({ id, username }) => [id, username]))
}

/**
 * Returns the index (from 0) of the channel key that an entry concerns. The index is null if the
 * channel no longer has the key, and missing if the entry concerns no key. Events refer to a key by
 * a random id, which would tell an admin nothing.
 */
function keyResponse({ detail }: Entry, keyRefs: readonly string[]): Pick<TimelineEntry, 'key'> {
  if (detail.keyRef == null) return {}
  const index = keyRefs.indexOf(detail.keyRef)
  return { key: index === -1 ? null : index }
}

function entryResponse(
  { position, at, kind, actor, detail }: Entry,
  names: ReadonlyMap<number, string>,
  changed: ReadonlyMap<number, string[]>,
): TimelineEntry {
  const userId = userIdOf(actor)
  const fields = changed.get(position)
  const count = detail.count ?? detail.failures
  return {
    id: position,
    at,
    kind,
    by: userId === null ? null : { id: userId, name: names.get(userId) ?? '' },
    ...(detail.reason === undefined ? {} : { reason: detail.reason }),
    ...(detail.model === undefined ? {} : { model: detail.model }),
    ...(fields === undefined ? {} : { fields }),
    ...(detail.tag === undefined ? {} : { tag: detail.tag }),
    ...(detail.isEnabled === undefined ? {} : { is_enabled: detail.isEnabled }),
    ...(count === undefined ? {} : { count }),
    ...(detail.until === undefined ? {} : { until: detail.until }),
    ...(detail.isSuccess === undefined ? {} : { is_success: detail.isSuccess }),
    ...(detail.durationMs === undefined ? {} : { duration_ms: Math.round(detail.durationMs) }),
  }
}

type Terms = Readonly<Record<string, unknown>>

/** Maps each channel field whose changes the timeline lists to its name in the API. */
const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ['name', 'name'],
  ['type', 'type'],
  ['baseUrl', 'base_url'],
  ['models', 'models'],
  ['groups', 'group'],
  ['priority', 'priority'],
  ['weight', 'weight'],
  ['tag', 'tag'],
  ['isAutoBan', 'auto_ban'],
  ['testModel', 'test_model'],
  ['organization', 'openai_organization'],
  ['other', 'other'],
  ['modelPrefix', 'model_prefix'],
  ['maxInputTokens', 'max_input_tokens'],
  ['expiredTime', 'expired_time'],
  ['maxConcurrency', 'max_concurrency'],
  ['maxRpm', 'max_rpm'],
  ['modelMapping', 'model_mapping'],
  ['statusCodeMapping', 'status_code_mapping'],
  ['setting', 'setting'],
  ['proxyRef', 'setting'],
  ['paramOverride', 'param_override'],
  ['costRatio', 'cost_ratio'],
])

/**
 * Maps the position of each entry to the API names of the fields that the entry changed. The
 * creation of the channel is left out.
 */
function changedFields(entries: readonly TimelineRow[]): Map<number, string[]> {
  const fields = new Map<number, string[]>()
  let terms: Terms = {}
  for (const { position, detail, kind } of entries) {
    const next: Terms = detail.terms ?? { ...terms, ...detail.change }
    if (kind !== 'created') fields.set(position, differing(terms, next))
    terms = next
  }
  return fields
}

const differing = (before: Terms, after: Terms): string[] => [
  ...new Set(
    [...WIRE_NAMES].flatMap(([key, name]) =>
      JSON.stringify(before[key]) === JSON.stringify(after[key]) ? [] : [name],
    ),
  ),
]

/**
 * The timeline entry for the expiry of a channel. No event records an expiry, so the entry has a
 * negative id and no actor.
 */
type Expiry = Omit<TimelineRow, 'kind'> & { readonly kind: 'expired' }
type Entry = TimelineRow | Expiry

/**
 * Returns the expiries of a channel, newest first. `changes` are all changes of the channel's
 * configuration, oldest first. `until` is the current time, or the time at which the channel was
 * deleted, in Unix milliseconds. Expiries after `until` are left out, and so are expiries that an
 * admin changed before they occurred.
 */
function expiriesOf(changes: readonly TimelineRow[], until: number): readonly Expiry[] {
  const expiries: Expiry[] = []
  const dated = changes.filter(({ detail }) => detail.terms !== undefined)
  for (const [index, { at, detail }] of dated.entries()) {
    const seconds = detail.terms?.expiredTime ?? 0
    const end = seconds * 1_000
    const changedAt = dated[index + 1]?.at ?? Number.POSITIVE_INFINITY
    if (end <= at || end > changedAt || end > until) continue
    expiries.unshift(expiryAt(seconds))
  }
  return expiries
}

/**
 * Returns the expiry that the last of these changes set, in Unix seconds. A value of 0 or less
 * means that the channel never expires.
 */
function expirySetBy(changes: readonly TimelineRow[]): number {
  const last = changes.findLast(({ detail }) => detail.terms !== undefined)
  return last?.detail.terms?.expiredTime ?? 0
}

const expiryAt = (seconds: number): Expiry => ({
  position: -seconds,
  at: seconds * 1_000,
  kind: 'expired',
  actor: '',
  detail: {},
})

/**
 * Merges events and expiries into one page, newest first. `rows` are the events from index `start`
 * on: one page, and one more event for each expiry. `offset` is the index of the page's first entry
 * in the list of all events and expiries.
 */
function mergePage(
  rows: readonly TimelineRow[],
  expiries: readonly Expiry[],
  { start, offset, limit }: { start: number; offset: number; limit: number },
): readonly Entry[] {
  const [firstRow] = rows
  if (start > 0 && firstRow === undefined) return []
  // Expiries that are newer than the first event in `rows` belong to earlier pages.
  const skipped = start === 0 ? 0 : expiries.filter(({ at }) => at > (firstRow?.at ?? 0)).length
  const merged = [...rows, ...expiries.slice(skipped)].sort(
    (left, right) => right.at - left.at || right.position - left.position,
  )
  const first = offset - start - skipped
  return merged.slice(first, first + limit)
}
