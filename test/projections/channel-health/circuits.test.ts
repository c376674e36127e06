import { describe, expect, it } from 'vitest'
import { openCircuits, relayCircuits } from '#projections/channel-health/query.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { type Given, NOW, runningProjections } from '../fixture.ts'

const fixture = startedForEach(runningProjections)

const circuit = (type: string, data: object, model: string | null = null): Given => ({
  stream: 'channel-health-4',
  type,
  v: 1,
  data: { channelId: 4, model, keyRef: null, ...data },
})
const opened = (model?: string) =>
  circuit('CircuitOpened', { reason: 'connect', failures: 5, round: 1, until: NOW + 30_000 }, model)
const halfOpened = circuit('CircuitHalfOpened', { prober: 'a', until: NOW + 90_000 })
const closed = circuit('CircuitClosed', { reason: 'probe' })

describe('open circuits', () => {
  it('a circuit is listed from its opening to its closing, with reason and deadline', async () => {
    await fixture.settled(await fixture.append([opened(), opened('sim-large')]))
    expect(await openCircuits(fixture.core.db)).toMatchObject([
      { channelId: 4, model: 'sim-large', state: 'open' },
      { model: null, state: 'open', reason: 'connect', failures: 5, until: NOW + 30_000 },
    ])
    const position = await fixture.append([halfOpened])
    await fixture.settled(position)
    const { rows } = await relayCircuits(fixture.core.db)
    expect(rows.find(({ model }) => model === null)).toMatchObject({
      state: 'half-open',
      reason: 'connect',
      openedAt: NOW,
      position,
    })
    await fixture.settled(await fixture.append([closed]))
    expect((await openCircuits(fixture.core.db)).map(({ model }) => model)).toEqual(['sim-large'])
  })

  it('the open circuits are the same if all events come in one batch', async () => {
    const facts = [opened(), halfOpened, closed, opened(), halfOpened, closed, opened()]
    await fixture.whileStopped(() => fixture.append(facts))
    await fixture.settled(await fixture.core.store.headPosition())
    expect(await openCircuits(fixture.core.db)).toHaveLength(1)
    const verdicts = await fixture.runner.verify('channel-health')
    expect(verdicts.map(({ isEqual }) => isEqual)).toEqual([true])
  })
})
