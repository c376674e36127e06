import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Checkbox } from '#console/ui/forms/choice-inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'

type DialogProps = {
  isOpen: boolean
  fetchedModels: readonly string[]
  selected: readonly string[]
  onClose: () => void
  /** Receives all selected models, including those that the provider's list does not contain. */
  onSelect: (models: readonly string[]) => void
}

export function FetchedModelsDialog(props: DialogProps) {
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
