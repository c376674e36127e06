import { redemptionDecider } from '#domain/redemption/decide.ts'
import {
  REDEMPTION_IDS_STREAM,
  type RedemptionRequest,
  type RedemptionTerms,
  redemptionStream,
} from '#domain/redemption/events.ts'
import { redemptionIdsDecider } from '#domain/redemption/take-ids.ts'
import type { ActContext, AnyStep } from '#infra/event-store/actors-port.ts'
import { accepted, type Deps } from '../act.ts'
import { redemptionKeyOwner } from './redemption-key.ts'

export type Wanted = {
  readonly keys: readonly string[]
  /** Of each. */
  readonly terms: RedemptionTerms
  /** What asks for them, and has them made once; null: each time that it comes. */
  readonly request: RedemptionRequest | null
}

/** Tries while other processes take ids at the same time. */
const TRIES_MAX = 100

/**
 * All in one append, their ids with them, or nothing. Answers the position; of a request that made
 * them before, one behind them.
 */
export async function makeRedemptions(
  deps: Deps,
  { keys, ...wanted }: Wanted,
  context: ActContext,
): Promise<number> {
  const { actors, store, vault } = deps.core
  // One at a time in this process; between processes the stream of the ids decides.
  return deps.turns('redemption-ids', async () => {
    for (let attempt = 1; ; attempt += 1) {
      const { highest } = await actors.stateOf(redemptionIdsDecider, REDEMPTION_IDS_STREAM)
      const first = highest + 1
      const codes = await keptKeys(deps, keys, first)
      const outcome = await actors.handleTogether(stepsFor(codes, wanted, first), context)
      if (outcome.isDone) return outcome.position
      await Promise.all(codes.map(({ keyRef }) => vault.deleteSecret(keyRef)))
      if (outcome.refusal.refused === 'RedemptionsMade') return store.headPosition()
      const isLate = outcome.refusal.refused === 'RedemptionIdTaken'
      if (!isLate || attempt >= TRIES_MAX) accepted(outcome)
    }
  })
}

type NewCode = Awaited<ReturnType<typeof keptKeys>>[number]

const keptKeys = ({ core: { vault } }: Deps, keys: readonly string[], first: number) =>
  Promise.all(
    keys.map(async (key, index) => {
      const redemptionId = first + index
      const owner = redemptionKeyOwner(redemptionId)
      const keyRef = await vault.putSecret('redemption-key', owner, key)
      const keyLookup = vault.keyedHash('redemption-key', key)
      return { redemptionId, keyLookup, keyRef, keyHint: hintOf(key) }
    }),
  )

/** Of a short key, four characters would say too much. */
const hintOf = (key: string): string => {
  const characters = [...key]
  return characters.length < 12 ? '' : characters.slice(-4).join('')
}

/** NOTE: where the store can't write them all at once, the ids have to be taken first. */
const stepsFor = (
  codes: readonly NewCode[],
  { terms, request }: Omit<Wanted, 'keys'>,
  first: number,
): AnyStep[] => [
  {
    decider: redemptionIdsDecider,
    stream: REDEMPTION_IDS_STREAM,
    command: {
      ...{ type: 'TakeRedemptionIds', first, count: codes.length },
      ...(request === null ? {} : { request }),
    },
  },
  ...codes.map((code) => ({
    decider: redemptionDecider,
    stream: redemptionStream(code.keyLookup),
    command: { type: 'CreateRedemption', ...code, terms },
  })),
]
