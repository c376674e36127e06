import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { channelsKey } from '#console/api/channels/list-channels.ts'
import { testChannel } from '#console/api/channels/test-channel.ts'
import { aFewAtATime, type TestResults, withResult } from './test-results.ts'

/** Tests models of one channel, singly or all; what is still under way ends with the dialog. */
export function useModelTests(channelId: number) {
  const client = useQueryClient()
  const [results, setResults] = useState<TestResults>(new Map())
  const [isRunningAll, setRunningAll] = useState(false)
  const stop = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    stop.current = controller
    return () => controller.abort()
  }, [])
  const testOne = async (model: string) => {
    const { signal } = stop.current
    if (results.get(model) === 'running') return
    setResults((now) => withResult(now, model, 'running'))
    const outcome = await testChannel(channelId, model, signal)
    if (signal.aborted) return
    setResults((now) => withResult(now, model, outcome))
    await client.invalidateQueries({ queryKey: channelsKey })
  }
  const testAll = async (models: readonly string[]) => {
    if (isRunningAll) return
    setRunningAll(true)
    await aFewAtATime(models, testOne, stop.current.signal)
    setRunningAll(false)
  }
  return { results, isRunningAll, testOne, testAll }
}
