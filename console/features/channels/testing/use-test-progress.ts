import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type ChannelPage, channelsKey } from '#console/api/channels/list-channels.ts'
import { testProgressKey, testProgressQuery } from '#console/api/channels/test-all.ts'
import { useLiveState, useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import type { ChannelChecked, TestProgress } from '#read-api/contract/channel-action.ts'
import { withChannels } from '../list/cached-channels.ts'

/**
 * The test of all channels as the live stream tells it, together with what it found of the
 * channels on screen; asked for anew where something may have been missed.
 */
export function useTestProgress(): TestProgress | undefined {
  const client = useQueryClient()
  const isLive = useLiveState().kind === 'live'
  const readAgain = (): void => void client.invalidateQueries({ queryKey: testProgressKey })
  useLiveTopic('tests', {
    onEvents: (pushes) => {
      const run = pushes.findLast((push) => push.run !== null)?.run
      if (run != null) client.setQueryData<TestProgress>(testProgressKey, run)
      const found = new Map(pushes.flatMap(({ channels }) => channels.map((one) => [one.id, one])))
      client.setQueriesData<ChannelPage>({ queryKey: channelsKey }, (page) =>
        withChannels(page, (channel) => checked(channel, found.get(channel.id))),
      )
    },
    onResync: readAgain,
  })
  useEffect(() => {
    if (isLive) void client.invalidateQueries({ queryKey: testProgressKey })
  }, [isLive, client])
  return useQuery(testProgressQuery(isLive)).data
}

function checked(channel: Channel, found: ChannelChecked | undefined): Channel {
  if (found === undefined) return channel
  const { response_time, test_time, balance, balance_updated_time, reason } = found
  const figures = { response_time, test_time, balance, balance_updated_time }
  return { ...channel, ...figures, test_failure: reason }
}
