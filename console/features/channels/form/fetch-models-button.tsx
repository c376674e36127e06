import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import type { ChannelFormProps } from './channel-draft.ts'
import { cleanUrl, keysOf, needsKeyReentry } from './channel-keys.ts'
import { FetchedModelsDialog } from './fetched-models-dialog.tsx'

export function FetchModelsButton(
  props: ChannelFormProps & { onModels: (models: readonly string[]) => void },
) {
  const { draft } = props.form
  const { t } = useTranslation()
  const [isBusy, setBusy] = useState(false)
  const [fetchedModels, setFetchedModels] = useState<readonly string[] | null>(null)
  const [isOpen, setOpen] = useState(false)
  const fetchAll = async () => {
    const fetchModels = modelFetcherOf(props)
    if (fetchModels === null) return showError(t('channelForm.error.keyMissing'))
    setBusy(true)
    try {
      setFetchedModels([...new Set(await fetchModels())].sort())
      setOpen(true)
    } catch (error) {
      showError(withSummary(error, t('channels.modelsFailed')))
    }
    setBusy(false)
  }
  return (
    <>
      <Button size="small" icon="download" isBusy={isBusy} onClick={() => void fetchAll()}>
        {t('channelForm.fetchModels')}
      </Button>
      <FetchedModelsDialog
        isOpen={isOpen}
        fetchedModels={fetchedModels ?? []}
        selected={draft.models}
        onClose={() => setOpen(false)}
        onSelect={(models) => {
          props.onModels(models)
          setOpen(false)
        }}
      />
    </>
  )
}

/**
 * Returns a function that reads the list of models from the provider. The function uses the first
 * entered key or, if none is entered, the stored key. Returns null if there is no entered key and
 * the stored key can't be used.
 */
function modelFetcherOf(props: ChannelFormProps): (() => Promise<string[]>) | null {
  const { stored, channel, type } = props
  const { draft } = props.form
  const [key] = keysOf(draft)
  if (key !== undefined) {
    const base_url = cleanUrl(draft.baseUrl) || (type?.base_url ?? '')
    const { type: kind, setting } = draft
    // The draft does not contain the proxy's password. The server reads it from the channel with
    // this id.
    const channelId = channel === null ? {} : { id: channel.id }
    const other = draft.other.trim()
    return () =>
      call('POST /api/channel/fetch_models', {
        body: { ...channelId, base_url, type: kind, key, other, setting },
      })
  }
  if (channel === null || stored === null || needsKeyReentry(stored, draft)) return null
  return () => call('GET /api/channel/fetch_models/:id', { params: { id: channel.id } })
}

function withSummary(error: unknown, summary: string): Error {
  if (!(error instanceof ApiError)) return new Error(summary)
  if (error.message.startsWith(summary)) return error
  const { code, status, requestId, message } = error
  return new ApiError(summary, { code, status, requestId, detail: message })
}
