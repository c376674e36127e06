/**
 * An event as a decider returns it. The name of the event's type is in the past tense. The data is
 * plain JSON without secrets or readable personal data. A changed shape requires a new version `v`
 * and an upcaster.
 */
export type Fact<Type extends string = string, Data extends object = object> = {
  readonly type: Type
  readonly v: number
  readonly data: Data
}

/**
 * `actor` is the user, the token or the part of the gateway that caused the event (`user:7`,
 * `token:3`, `system:sweeper`). `cause` is the id of the request or event that led to this event.
 * `at` is in Unix milliseconds.
 */
export type FactMeta = {
  readonly actor: string
  readonly cause: string | null
  readonly at: number
}

/**
 * The client whose request caused an event. The user `userId` sent the request, and `ip` is
 * encrypted with this user's data key. Every event of such a request contains this object as
 * `data.client`, beside the fields of the event's type. Deciders neither set nor read this object.
 */
export type Client = { readonly userId: number; readonly ip: Sealed }

/**
 * An event as it is stored. `position` is unique in the store, follows the order of commits, and
 * starts with 1.
 */
export type Recorded<E extends Fact = Fact> = E & {
  readonly id: string
  readonly stream: string
  /** The position of the event within its stream, from 0 without gaps. */
  readonly revision: number
  readonly position: number
  readonly meta: FactMeta
}

/** Text encrypted with a user's data key. The text becomes unreadable when the key is destroyed. */
export type Sealed = string & { readonly sealed: true }
