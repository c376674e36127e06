import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { Checkbox } from '#console/ui/forms/switches.tsx'

type PickerProps = {
  isOpen: boolean
  found: readonly string[]
  chosen: readonly string[]
  onClose: () => void
  /**
   * Receives all selected models, including selected models that are not in the provider's list.
   */
  onChoose: (models: readonly string[]) => void
}

export function ModelPicker(props: PickerProps) {
  const { t } = useTranslation()
  const { isOpen, onClose } = props
  return (
    <Dialog
      isOpen={isOpen}
      title={t('channelForm.selectModelsTitle')}
      className="tg-picker"
      onClose={onClose}
    >
      <Picks {...props} />
    </Dialog>
  )
}

function Picks(props: PickerProps) {
  const { found, chosen } = props
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set(chosen))
  const wanted = search.trim().toLowerCase()
  const shown = found.filter((model) => model.toLowerCase().includes(wanted))
  const areAllOn = shown.length > 0 && shown.every((model) => selected.has(model))
  const set = (models: readonly string[], isOn: boolean) => {
    const next = new Set(selected)
    for (const model of models) {
      if (isOn) next.add(model)
      else next.delete(model)
    }
    setSelected(next)
  }
  return (
    <>
      <p className="tg-hint">{t('channelForm.selectModelsLead', { count: found.length })}</p>
      <SearchInput
        icon="search"
        label={t('shared.searchModels')}
        value={search}
        onChange={setSearch}
      />
      <div className="tg-picker-head">
        <Checkbox
          label={t('channelForm.allModels', { count: shown.length })}
          isOn={areAllOn}
          isDisabled={shown.length === 0}
          onChange={(isOn) => set(shown, isOn)}
        />
      </div>
      <ul className="tg-picker-list">
        {shown.map((model) => (
          <li key={model}>
            <Checkbox
              label={model}
              isOn={selected.has(model)}
              onChange={(isOn) => set([model], isOn)}
            />
            {!chosen.includes(model) && (
              <span className="tg-more-count">{t('channelForm.newModels')}</span>
            )}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="tg-hint">{t('ui.noModelMatches')}</p>}
      <div className="tg-dialog-foot">
        <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
        <Button tone="primary" onClick={() => props.onChoose([...selected])}>
          {t('channelForm.useSelectedModels', { count: selected.size })}
        </Button>
      </div>
    </>
  )
}
