import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Checkbox } from '#console/ui/forms/choice-inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { type ChannelFormProps, cleanUrl, keysOf, needsKeyReentry } from './channel-draft.ts'

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
 * entered key or, if no key is entered, the stored key. If neither key can be used,
 * `modelFetcherOf` returns null.
 */
function modelFetcherOf(props: ChannelFormProps): (() => Promise<string[]>) | null {
  const { stored, channel, type } = props
  const { draft } = props.form
  const [key] = keysOf(draft)
  if (key !== undefined) {
    const base_url = cleanUrl(draft.baseUrl) || (type?.base_url ?? '')
    const { type: kind, setting } = draft
    // The draft does not contain the proxy's password. The server reads this password from the
    // channel with this id.
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

type DialogProps = {
  isOpen: boolean
  fetchedModels: readonly string[]
  selected: readonly string[]
  onClose: () => void
  /** Receives all selected models, including those that the provider's list does not contain. */
  onSelect: (models: readonly string[]) => void
}

function FetchedModelsDialog(props: DialogProps) {
  const { t } = useTranslation()
  const { isOpen, onClose } = props
  return (
    <Dialog
      isOpen={isOpen}
      title={t('channelForm.selectModelsTitle')}
      className="tg-picker"
      onClose={onClose}
    >
      <DialogContent {...props} />
    </Dialog>
  )
}

function DialogContent(props: DialogProps) {
  const { fetchedModels, selected } = props
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set(selected))
  const needle = search.trim().toLowerCase()
  const visibleModels = fetchedModels.filter((model) => model.toLowerCase().includes(needle))
  const areAllSelected =
    visibleModels.length > 0 && visibleModels.every((model) => selection.has(model))
  const set = (models: readonly string[], isOn: boolean) => {
    const next = new Set(selection)
    for (const model of models) {
      if (isOn) next.add(model)
      else next.delete(model)
    }
    setSelection(next)
  }
  return (
    <>
      <p className="tg-hint">
        {t('channelForm.selectModelsLead', { count: fetchedModels.length })}
      </p>
      <SearchInput label={t('shared.searchModels')} value={search} onChange={setSearch} />
      <div className="tg-picker-head">
        <Checkbox
          label={t('channelForm.allModels', { count: visibleModels.length })}
          isOn={areAllSelected}
          isDisabled={visibleModels.length === 0}
          onChange={(isOn) => set(visibleModels, isOn)}
        />
      </div>
      <ul className="tg-picker-list">
        {visibleModels.map((model) => (
          <li key={model}>
            <Checkbox
              label={model}
              isOn={selection.has(model)}
              onChange={(isOn) => set([model], isOn)}
            />
            {!selected.includes(model) && (
              <span className="tg-more-count">{t('channelForm.newModels')}</span>
            )}
          </li>
        ))}
      </ul>
      {visibleModels.length === 0 && <p className="tg-hint">{t('ui.noModelMatches')}</p>}
      <div className="tg-dialog-foot">
        <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
        <Button tone="primary" onClick={() => props.onSelect([...selection])}>
          {t('channelForm.useSelectedModels', { count: selection.size })}
        </Button>
      </div>
    </>
  )
}
