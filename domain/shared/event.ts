/**
 * An event as an aggregate states it: in the past tense, as plain JSON, without secrets and without
 * readable personal data. `v` is the version of the shape; a changed shape is a new version with an
 * upcaster.
 */
export type Fact<Type extends string = string, Data extends object = object> = {
  readonly type: Type
  readonly v: number
  readonly data: Data
}

/**
 * `actor` is who caused the event (`user:7`, `token:3`, `system:sweeper`), `cause` the id of the
 * request or event that led to it, and `at` the time in unix milliseconds.
 */
export type FactMeta = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/**
 * An event with its place in the store. `position` is global and follows the order of commits,
 * starting with 1.
 */
export type Recorded<E extends Fact = Fact> = E & {
  readonly id: string
  readonly stream: string
  /** The position in its stream, starting with 0, without gaps. */
  readonly revision: number
  readonly position: number
  readonly meta: FactMeta
}

/** Text encrypted with its owner's data key; it becomes unreadable when that key is destroyed. */
export type Sealed = string & { readonly sealed: true }
