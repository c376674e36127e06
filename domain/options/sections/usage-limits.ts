import type { OptionSection } from '../option-definition.ts'
import { FLAG, integer, type OptionType } from '../option-type.ts'

const COUNT_MAX = 1_000_000_000
const MINUTES_OF_A_YEAR = 525_600

/** The limits of each user in a group, or of each user's calls to a model. 0 means no limit. */
const LIMITS: OptionType = {
  kind: 'limits-by-name',
  members: ['calls', 'successes', 'tokensPerMinute', 'concurrency'],
}

export const USAGE_LIMITS: OptionSection = {
  id: 'rate-limit',
  tab: 'ratelimit',
  options: [
    { key: 'ModelRequestRateLimitEnabled', type: FLAG, preset: 'false' },
    {
      key: 'ModelRequestRateLimitDurationMinutes',
      type: integer(1, MINUTES_OF_A_YEAR),
      preset: '1',
      unit: 'minute',
    },
    { key: 'ModelRequestRateLimitCount', type: integer(-1, COUNT_MAX), preset: '0' },
    { key: 'ModelRequestRateLimitSuccessCount', type: integer(1, COUNT_MAX), preset: '1000' },
    { key: 'ModelRequestRateLimitTokensPerMinute', type: integer(0, COUNT_MAX), preset: '0' },
    { key: 'RateLimitsByGroup', type: LIMITS, preset: '{}' },
    { key: 'RateLimitsByModel', type: LIMITS, preset: '{}' },
    { key: 'BatchFilesGigabytesPerUser', type: integer(0, 1_000_000), preset: '10' },
  ],
}
