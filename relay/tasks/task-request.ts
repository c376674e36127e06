import type { KnownTask } from '#domain/task/decide.ts'
import type { TaskKind } from '#domain/task/events.ts'
import type { TaskBody } from './task-body.ts'

/** What providers are told beside what the caller asked for. */
export type Sending = {
  /** The task that this one continues. */
  readonly origin: KnownTask | null
  /** Where to call back; null: nowhere. */
  readonly notifyUrl: string | null
}

/** A caller's request for a task, read. */
export type TaskRequest = {
  readonly kind: TaskKind
  readonly platform: 'midjourney' | 'suno'
  /** As on the wire: `IMAGINE`, `MUSIC`… */
  readonly action: string
  /** What is priced. */
  readonly model: string
  readonly prompt: string | null
  /** The caller's own mark of it; null: none. */
  readonly state: string | null
  /** The id of the task that it continues, as its caller has it; null: none. */
  readonly originId: string | null
  /** A window is to be filled in that belongs to a task under way. */
  readonly continuesOpen: boolean
  /** Below the provider's address. */
  readonly path: string
  readonly body: TaskBody
  readonly sentBody: (sending: Sending) => Buffer
}
