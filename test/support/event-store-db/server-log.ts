import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

export type ProposedEvent = {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/**
 * `position` is the byte offset of the record, as on a real server, so positions have large gaps.
 */
export type LoggedEvent = ProposedEvent & {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly createdMs: number
}

export type Expected = 'any' | 'exists' | 'none' | number

/**
 * `position` is null if the events were written earlier and the server does not know their
 * position.
 */
export type AppendResult =
  | { readonly isWritten: true; readonly revision: number; readonly position: number | null }
  | { readonly isWritten: false; readonly actual: number }

export type ServerLog = {
  readonly all: () => readonly LoggedEvent[]
  readonly stream: (name: string) => readonly LoggedEvent[]
  readonly append: (
    stream: string,
    expected: Expected,
    events: readonly ProposedEvent[],
  ) => AppendResult
  /** Makes repeated appends conflict, as on a server without a record of earlier appends. */
  readonly forgetRepeats: () => void
  /** Registers a listener that runs after every write, and returns a function that removes it. */
  readonly onWritten: (listener: () => void) => () => void
  /** Returns the index in `all` of the event at `position`, or null. */
  readonly indexOf: (position: number) => number | null
  readonly close: () => void
}

const RECORD_HEAD_BYTES = 97
/**
 * Repeated `any` appends are detected by this number of recent event ids. A real server has a
 * similar limit.
 */
const RECENT_IDS = 200
const SYSTEM_EVERY = 7

type Line = {
  readonly stream: string
  readonly at: number
  readonly events: readonly {
    readonly id: string
    readonly type: string
    readonly contentType: string
    readonly data: string
    readonly metadata: string
  }[]
}

/** Opens a log in memory. With `file`, each write is also stored on disk before the reply. */
export function openServerLog(file: string | null = null): ServerLog {
  const all: LoggedEvent[] = []
  const streams = new Map<string, LoggedEvent[]>()
  const places = new Map<number, number>()
  const listeners = new Set<() => void>()
  let recent: LoggedEvent[] = []
  let end = 1_000
  let appends = 0
  let knowsRepeats = true

  const keep = (stream: string, events: readonly ProposedEvent[], createdMs: number): void => {
    const mine = streams.get(stream) ?? []
    streams.set(stream, mine)
    for (const event of events) {
      const logged = { ...event, stream, revision: mine.length, position: end, createdMs }
      places.set(end, all.length)
      end += RECORD_HEAD_BYTES + stream.length + event.data.length + event.metadata.length
      all.push(logged)
      mine.push(logged)
      recent.push(logged)
    }
    if (recent.length > 2 * RECENT_IDS) recent = recent.slice(-RECENT_IDS)
  }
  if (file !== null) for (const line of readLines(file)) keep(line.stream, decoded(line), line.at)
  const descriptor = file === null ? null : openSync(file, 'a')
  const write = (stream: string, events: readonly ProposedEvent[]): void => {
    const at = Date.now()
    if (descriptor !== null) {
      writeSync(descriptor, `${JSON.stringify(encoded(stream, events, at))}\n`)
      fsyncSync(descriptor)
    }
    keep(stream, events, at)
  }
  if (all.length === 0) write('$settings', [systemEvent('$settings')])
  return {
    all: () => all,
    stream: (name) => streams.get(name) ?? [],
    append: (stream, expected, events) => {
      const mine = streams.get(stream) ?? []
      const before = knowsRepeats ? repeated(mine, expected, events, recent) : null
      if (before !== null) return { isWritten: true, revision: before, position: null }
      if (isConflict(expected, mine.length - 1)) {
        return { isWritten: false, actual: mine.length - 1 }
      }
      write(stream, events)
      const position = all.at(-1)?.position ?? 0
      const revision = (streams.get(stream)?.length ?? 0) - 1
      appends += 1
      if (appends % SYSTEM_EVERY === 0)
        write('$stats-0.0.0.0:2113', [systemEvent('$statsCollected')])
      for (const listener of [...listeners]) listener()
      return { isWritten: true, revision, position }
    },
    forgetRepeats: () => {
      knowsRepeats = false
    },
    onWritten: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    indexOf: (position) =>
      position === 0 ? 0 : position === end ? all.length : (places.get(position) ?? null),
    close: () => {
      if (descriptor !== null) closeSync(descriptor)
    },
  }
}

const isConflict = (expected: Expected, current: number): boolean =>
  expected === 'any'
    ? false
    : expected === 'exists'
      ? current < 0
      : (expected === 'none' ? -1 : expected) !== current

/** Returns the last revision if these events were written before. */
function repeated(
  mine: readonly LoggedEvent[],
  expected: Expected,
  events: readonly ProposedEvent[],
  recent: readonly LoggedEvent[],
): number | null {
  const [first] = events
  if (first === undefined) return null
  const known =
    typeof expected === 'number'
      ? expected + 1
      : expected === 'none'
        ? 0
        : recent.find((event) => event.stream === mine[0]?.stream && event.id === first.id)
            ?.revision
  if (known === undefined) return null
  const isSame = events.every(({ id }, index) => mine[known + index]?.id === id)
  return isSame ? known + events.length - 1 : null
}

const systemEvent = (type: string): ProposedEvent => ({
  id: crypto.randomUUID(),
  type,
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: new Uint8Array(),
})

const encoded = (stream: string, events: readonly ProposedEvent[], at: number): Line => ({
  stream,
  at,
  events: events.map(({ data, metadata, ...event }) => ({
    ...event,
    data: Buffer.from(data).toString('base64'),
    metadata: Buffer.from(metadata).toString('base64'),
  })),
})

const decoded = ({ events }: Line): ProposedEvent[] =>
  events.map(({ data, metadata, ...event }) => ({
    ...event,
    data: Buffer.from(data, 'base64'),
    metadata: Buffer.from(metadata, 'base64'),
  }))

/**
 * Ignores an incomplete last line, which a kill has cut and whose append was never acknowledged.
 */
function readLines(file: string): Line[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.slice(0, -1).map((line) => JSON.parse(line))
}
