import { toWire } from '#domain/shared/quota.ts'

type Sums = { calls: number; charged: bigint; drafted: bigint; refused: number }

/** What calls were charged, and what a draft would have charged them. */
export type Tally = {
  readonly total: Sums
  readonly models: Map<string, Sums>
  readonly users: Map<number, Sums>
}

const ROWS_MAX = 100

const noSums = (): Sums => ({ calls: 0, charged: 0n, drafted: 0n, refused: 0 })

export const noTally = (): Tally => ({ total: noSums(), models: new Map(), users: new Map() })

/** Adds one call; null: the draft has no price for it. */
export function tallied(
  tally: Tally,
  call: { readonly model: string; readonly userId: number; readonly quota: bigint },
  amount: bigint | null,
): void {
  const sums = {
    calls: 1,
    charged: call.quota,
    drafted: amount ?? 0n,
    refused: amount === null ? 1 : 0,
  }
  add(tally.total, sums)
  add(sumsOf(tally.models, call.model), sums)
  add(sumsOf(tally.users, call.userId), sums)
}

/** Adds another tally to the first. */
export function taken(tally: Tally, other: Tally): void {
  add(tally.total, other.total)
  for (const [model, sums] of other.models) add(sumsOf(tally.models, model), sums)
  for (const [userId, sums] of other.users) add(sumsOf(tally.users, userId), sums)
}

/** Those with the largest differences, at most a hundred. */
export const largest = <Key>(sums: ReadonlyMap<Key, Sums>): [Key, Sums][] =>
  [...sums]
    .sort(([, one], [, other]) => {
      const [a, b] = [difference(one), difference(other)]
      return a === b ? other.calls - one.calls : a > b ? -1 : 1
    })
    .slice(0, ROWS_MAX)

export const onWire = ({ calls, charged, drafted, refused }: Sums) => ({
  calls,
  charged: toWire(charged),
  drafted: toWire(drafted),
  refused,
})

const difference = ({ charged, drafted }: Sums): bigint =>
  drafted > charged ? drafted - charged : charged - drafted

function sumsOf<Key>(map: Map<Key, Sums>, key: Key): Sums {
  const sums = map.get(key) ?? noSums()
  map.set(key, sums)
  return sums
}

function add(sums: Sums, { calls, charged, drafted, refused }: Sums): void {
  sums.calls += calls
  sums.charged += charged
  sums.drafted += drafted
  sums.refused += refused
}
