/**
 * A fact as an aggregate states it: past tense, JSON data alone, no secret, no plaintext personal
 * data. `v` is the version of this type's shape; a changed shape is a new version with an upcaster.
 */
export type Fact<Type extends string = string, Data extends object = object> = {
  readonly type: Type
  readonly v: number
  readonly data: Data
}

/**
 * Who acted (`user:7`, `token:3`, `system:sweeper`), what led to it (a request or event id), and
 * when (unix milliseconds).
 */
export type FactMeta = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/** A fact with its place in the store. `position` is global and ordered by commit, from 1. */
export type Recorded<E extends Fact = Fact> = E & {
  readonly id: string
  readonly stream: string
  /** Place in its stream, from 0, without gaps. */
  readonly revision: number
  readonly position: number
  readonly meta: FactMeta
}

/** Text encrypted with its owner's data key; unreadable for ever once that key is destroyed. */
export type Sealed = string & { readonly sealed: true }
