import { describe } from 'vitest'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { story } from './story.ts'

const NOW = 1_795_248_000_000
const scope = { channelId: 4, model: 'gpt-4o', keyRef: 'key-2' }
const prober = 'relay-a'

describe('the events of circuits, as first recorded', () => {
  story(
    'a circuit',
    channelHealthDecider,
    [
      [
        'circuit-opened-v1',
        {
          type: 'OpenCircuit',
          scope,
          reason: 'status-503',
          failures: 5,
          cooldown: { baseMs: 30_000, maxMs: 600_000, jitter: 0.5, retryAfterMs: 0 },
          prober: null,
          at: NOW,
        },
      ],
      [
        'circuit-half-opened-v1',
        { type: 'ProbeCircuit', scope, prober, leaseMs: 60_000, at: NOW + 33_000 },
      ],
      ['circuit-closed-v1', { type: 'CloseCircuit', scope, reason: 'probe', prober }],
    ],
    [],
  )
})
