/**
 * An event as an aggregate returns it. The type is named in the past tense. The data is plain JSON
 * without secrets and without readable personal data. `v` is the version of the data's shape. A
 * changed shape requires a new version and an upcaster.
 */
export type Fact<Type extends string = string, Data extends object = object> = {
  readonly type: Type
  readonly v: number
  readonly data: Data
}

/**
 * The origin of an event. `actor` identifies the user, token or system process that caused the
 * event (`user:7`, `token:3`, `system:sweeper`). `cause` is the id of the request or event that led
 * to the event. `at` is the time in unix milliseconds.
 */
export type FactMeta = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/**
 * An event that was appended to the event store. `position` is unique in the store, follows the
 * order of commits, and starts with 1.
 */
export type Recorded<E extends Fact = Fact> = E & {
  readonly id: string
  readonly stream: string
  /** The position of the event within its stream. Revisions start with 0 and have no gaps. */
  readonly revision: number
  readonly position: number
  readonly meta: FactMeta
}

/**
 * Text that is encrypted with a user's data key. The text becomes unreadable when the key is
 * destroyed.
 */
export type Sealed = string & { readonly sealed: true }
