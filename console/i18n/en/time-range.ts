import type { Words } from '../words-type.ts'

export const timeRange: Words['timeRange'] = {
  span: {
    '1h': 'Last hour',
    today: 'Today',
    '24h': 'Last 24 hours',
    '7d': 'Last 7 days',
    '30d': 'Last 30 days',
    all: 'All time',
  },
  from: 'From',
  to: 'To',
  zone: 'Time zone: {{zone}}',
  apply: 'Apply',
  fault: 'Fill in both times, the first not after the second',
}
