import { useQueryClient } from '@tanstack/react-query'
import { testProgressKey } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { showError } from '#console/ui/messages/toast.ts'

/** Starts a test of all channels. `TestProgressBar` shows the progress of the test. */
export function useTestAll(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    try {
      const progress = await call('GET /api/channel/test')
      await client.cancelQueries({ queryKey: testProgressKey })
      client.setQueryData(testProgressKey, progress)
    } catch (error) {
      showError(error)
      await client.invalidateQueries({ queryKey: testProgressKey })
    }
  }
}
