import { useState } from 'react'
import { MATCHING_MAX, matchingTokens } from '#console/api/tokens/matching-tokens.ts'
import { showError } from '#console/ui/toast.ts'
import type { Token } from '#read-api/contract/token.ts'
import type { useTokenList } from './use-token-list.ts'

const NONE: ReadonlySet<string> = new Set()
const NO_TOKENS: readonly Token[] = []

type Chosen = {
  /** The filters it was chosen under: others choose anew. */
  readonly under: string
  readonly keys: ReadonlySet<string>
  /** All that match, once they were asked for: those of other pages can be chosen too. */
  readonly matching: readonly Token[]
}

/** Which tokens are chosen, over the rows as they are now. */
export function useChosenTokens({ rows, total, sought }: ReturnType<typeof useTokenList>) {
  const under = JSON.stringify(sought)
  const [stored, setStored] = useState<Chosen>({ under, keys: NONE, matching: NO_TOKENS })
  const isCurrent = stored.under === under
  const keys = isCurrent ? stored.keys : NONE
  const matching = isCurrent ? stored.matching : NO_TOKENS
  const shown = new Set(rows.map(({ id }) => id))
  const elsewhere = matching.filter(({ id }) => !shown.has(id))
  const picked = [...rows, ...elsewhere].filter(({ id }) => keys.has(String(id)))
  const canAll = total > rows.length && total <= MATCHING_MAX
  return {
    picked,
    keys,
    choose: (next: ReadonlySet<string>) => setStored({ under, keys: next, matching }),
    chooseNone: () => setStored({ under, keys: NONE, matching: NO_TOKENS }),
    /** How many could be chosen beyond this page; 0: this page is all, or there are too many. */
    choosable: canAll && picked.length < total ? total : 0,
    chooseAll: async () => {
      try {
        const all = await matchingTokens(sought)
        setStored({ under, keys: new Set(all.map(({ id }) => String(id))), matching: all })
      } catch (error) {
        showError(error)
      }
    },
  }
}
