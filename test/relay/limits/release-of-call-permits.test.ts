import { expect, it, vi } from 'vitest'
import { UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import type { Permit } from '#infra/limits/port.ts'
import { RealtimeCallPermit } from '#relay/pipeline/acquire-realtime-call-permit.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'

const userRate = { byGroup: new Map(), byModel: new Map(), exemptGroup: null, isEnabled: false }
const caller = {
  ...{ user: { userId: 7 }, group: 'default' },
  token: { tokenId: 3, terms: UNRESTRICTED_TERMS },
} as unknown as Caller

it('a limit that is claimed while the permit of its call is released is given back', async () => {
  const claim = Promise.withResolvers<Permit>()
  const deps = {
    runningCallCount: { release: () => {} },
    limits: { enter: () => claim.promise },
    views: { options: { options: { userRate } } },
    concurrencyCaps: { total: 1, perUser: 1, perToken: 1 },
  } as unknown as RelayDeps
  const sized = { body: { length: 4 }, outputTokensMax: 1, choices: 1, model: null }
  const permit = new RealtimeCallPermit(deps, caller, sized, false)
  const claiming = permit.claimConcurrency()
  permit.release({ isSuccess: true, tokens: 1 })
  const release = vi.fn()
  claim.resolve({ release })
  expect(await claiming).toBe(null)
  expect(release).toHaveBeenCalledTimes(1)
})
