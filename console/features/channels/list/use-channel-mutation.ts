import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { isNotFound } from '#console/api/api-error.ts'
import { channelsKey } from '#console/api/channels.ts'
import { showError } from '#console/ui/messages/toast.ts'

/** Shows the action's error and reloads the list. Returns true on success. */
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
