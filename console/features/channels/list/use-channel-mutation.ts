import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { isNotFound } from '#console/api/api-error.ts'
import { channelsKey } from '#console/api/channels.ts'
import { showError } from '#console/ui/messages/toast.ts'

/**
 * Returns a function that runs `perform`, which changes channels, and then reloads the channel
 * list. If `perform` fails, the function shows the error and returns false.
 */
export function useChannelMutation(): (perform: () => Promise<unknown>) => Promise<boolean> {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async (perform) => {
    try {
      await perform()
      return true
    } catch (error) {
      showError(isNotFound(error) ? t('channels.missing') : error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: channelsKey })
    }
  }
}
