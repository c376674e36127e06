import type { LogEntry } from '#read-api/contract/logs.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'

const NOW = Math.floor(Date.now() / 1000)
const DAY = 86_400

export const redemption = (patch: Partial<Redemption>): Redemption => ({
  ...{ id: 1, name: 'spring campaign', key: `SPR${'K7'.repeat(13)}QXYZ`, key_hint: 'QXYZ' },
  ...{ quota: 5_000_000, status: 1, created_time: NOW - 3 * DAY },
  ...{ used_user_id: 0, used_username: '', redeemed_time: 0, is_gift: false, max_uses: 1 },
  ...{ used_count: 0, valid_from: 0, valid_until: 0 },
  ...patch,
})

const used = { used_user_id: 7, used_username: 'mia', redeemed_time: NOW - 4_000 }

export const REDEMPTIONS: readonly Redemption[] = [
  redemption({ id: 9 }),
  redemption({ id: 8, name: 'welcome', is_gift: true, max_uses: 50, used_count: 12, ...used }),
  redemption({ id: 7, name: 'everybody', key: 'HELLO2026', is_gift: true, max_uses: -1 }),
  redemption({ id: 6, status: 3, used_count: 1, ...used }),
  redemption({ id: 5, name: 'leaked', status: 2 }),
  redemption({ id: 4, name: 'five', is_gift: true, max_uses: 5, used_count: 5, ...used }),
  redemption({
    id: 3,
    name: 'next month',
    valid_from: NOW + 20 * DAY,
    valid_until: NOW + 50 * DAY,
  }),
  redemption({ id: 2, name: 'last month', valid_until: NOW - DAY }),
]

const GAIN: LogEntry = {
  ...{ id: 1, created_at: NOW - 90, type: 1, request_id: '', channel: 0, channel_name: '' },
  ...{ username: 'root', user_id: 1, token_name: '', group: '', model_name: '', use_time: 0 },
  ...{ is_stream: false, prompt_tokens: 0, completion_tokens: 0, quota: 5_000_000 },
  ...{ content: 'Redeemed a code', client_ip: '', other: '{}' },
}
export const GAINS: readonly LogEntry[] = [
  GAIN,
  { ...GAIN, id: 5, type: 4, quota: 60_000, content: 'Daily check-in', created_at: NOW - 4_000 },
  {
    ...GAIN,
    id: 4,
    type: 3,
    quota: -700_000,
    content: 'Reduced by an admin',
    created_at: NOW - DAY,
  },
  {
    ...GAIN,
    id: 3,
    type: 4,
    quota: 250_000,
    content: 'Transferred invitation quota',
    created_at: NOW - 9 * DAY,
  },
]
