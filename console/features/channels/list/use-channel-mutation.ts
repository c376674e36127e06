import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { isNotFound } from '#console/api/api-error.ts'
import { channelsKey } from '#console/api/channels.ts'
import { showError } from '#console/ui/messages/toast.ts'

/** Returns a function that runs an action, shows its error and reloads the list. */
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
