import { createHash } from 'node:crypto'
import type { Recorded } from '#domain/shared/event.ts'
import type { EncodedEvent } from '../encoded-append.ts'
import { firstEventName } from '../store-identity.ts'
import type { EventReads } from './event-reads.ts'
import type { CopySource } from './postgres-copy-source.ts'

export type Comparison = {
  readonly streams: number
  readonly events: number
  /** The names of at most a hundred streams whose events differ between source and target. */
  readonly different: readonly string[]
  readonly isSameOrder: boolean
  /** Identifies the target's history by its first event; null for an empty target. */
  readonly firstEvent: string | null
}

type End = {
  readonly streams: Map<string, { count: number; hash: string }>
  events: number
  order: string
  firstEvent: string | null
}

const PAGE = 2_000
const DIFFERENT_MAX = 100

/** Compares the ids and bytes of the events in every stream, and the order of all events. */
export async function compareHistories(
  source: CopySource,
  target: EventReads,
): Promise<Comparison> {
  const [one, two] = await Promise.all([sourceEnd(source), targetEnd(target)])
  const names = [...new Set([...one.streams.keys(), ...two.streams.keys()])].sort()
  const different = names.filter(
    (name) => one.streams.get(name)?.hash !== two.streams.get(name)?.hash,
  )
  return {
    streams: one.streams.size,
    events: one.events,
    different: different.slice(0, DIFFERENT_MAX),
    isSameOrder: one.order === two.order,
    firstEvent: two.firstEvent,
  }
}

async function sourceEnd(source: CopySource): Promise<End> {
  const end: End = { streams: new Map(), events: 0, order: '', firstEvent: null }
  for (let position = 0; ; ) {
    const page = await source.after(position)
    for (const { stream, revision, event } of page) add(end, stream, revision, event)
    const last = page.at(-1)
    if (last === undefined) return end
    position = last.position
  }
}

async function targetEnd(target: EventReads): Promise<End> {
  const end: End = { streams: new Map(), events: 0, order: '', firstEvent: null }
  for (let position = 0; ; ) {
    const page = await target.readAll(position, PAGE)
    for (const { recorded } of page) {
      end.firstEvent ??= firstEventName(recorded)
      add(end, recorded.stream, recorded.revision, encodedOf(recorded))
    }
    const last = page.at(-1)
    if (last === undefined) return end
    position = last.recorded.position
  }
}

const encodedOf = ({ id, type, v, data, meta }: Recorded): EncodedEvent => ({
  id,
  type,
  v,
  meta,
  data: JSON.stringify(data),
})

function add(end: End, stream: string, revision: number, event: EncodedEvent): void {
  const { id, type, v, data, meta } = event
  const before = end.streams.get(stream) ?? { count: 0, hash: '' }
  const text = JSON.stringify([id, revision, type, v, meta.actor, meta.cause, meta.at])
  const hash = sha256(`${before.hash}\n${text}\n${data}`)
  end.streams.set(stream, { count: before.count + 1, hash })
  end.events += 1
  end.order = sha256(`${end.order}\n${id}`)
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')
