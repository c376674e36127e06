import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChannelChecksEvent, TestRunEvent } from '#domain/channel-checks/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/** Each channel's last test and last balance query, and the runs that tested all channels. */
export const channelChecks = projectionOf<ChannelChecksEvent | TestRunEvent>({
  name: 'channel-checks',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { checks: { key: ['channel_id'] }, runs: { key: ['run'], isShared: true } },
  handlers: {
    ChannelTested: ({ data, meta, position }, rows) => {
      const { channelId, model, isSuccess, reason, durationMs, run } = data
      rows.put(
        'checks',
        { channel_id: channelId },
        {
          model,
          is_success: isSuccess,
          reason,
          // Only a success shows the channel's speed. The duration is stored as at least 1 ms,
          // because 0 means no success.
          ...(isSuccess ? { response_time: Math.max(1, durationMs) } : {}),
          ...(run === null
            ? {}
            : { run, run_model: model, run_reason: reason, run_duration: durationMs }),
          test_time: secondsOf(meta.at),
          changed_position: position,
        },
      )
      if (run !== null) rows.add('runs', { run }, { tested: 1n, failed: isSuccess ? 0n : 1n })
    },
    ChannelBalanceRead: ({ data, meta, position }, rows) =>
      rows.put(
        'checks',
        { channel_id: data.channelId },
        {
          balance: data.balance,
          balance_updated_time: secondsOf(meta.at),
          changed_position: position,
        },
      ),
    ChannelTestRunStarted: ({ data, meta, position }, rows) =>
      rows.put(
        'runs',
        { run: data.run },
        { total: data.total, started_time: secondsOf(meta.at), started_position: position },
      ),
    ChannelTestRunEnded: ({ data, meta, position }, rows) =>
      rows.put(
        'runs',
        { run: data.run },
        { ended_time: secondsOf(meta.at), ended_position: position },
      ),
  },
})
