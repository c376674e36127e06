import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  type RegisteredAction,
  registeredActions,
  useSingleKeys,
} from '#console/ui/actions/action-registry.ts'
import { Overlay } from '#console/ui/dialogs/overlay.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Switch } from '#console/ui/forms/choice-inputs.tsx'
import { PALETTE_KEYS, ShortcutKeys } from './shortcut-key-symbols.tsx'

const SECTIONS = ['page', 'go', 'action'] as const

export function ShortcutSheet(props: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay {...props} labelledBy={id} className="tg-dialog tg-sheet">
      <h2 id={id}>{t('commands.sheet')}</h2>
      <div className="tg-dialog-body">
        <p className="tg-hint">{t('commands.sheetLead')}</p>
        <Shortcuts />
        <SingleKeysSwitch />
      </div>
      <div className="tg-dialog-foot">
        <Button onClick={props.onClose}>{t('ui.close')}</Button>
      </div>
    </Overlay>
  )
}

function Shortcuts() {
  const { t } = useTranslation()
  const [actions] = useState(registeredActions)
  const palette = { id: 'palette', title: t('commands.palette'), keys: PALETTE_KEYS }
  return (
    <div className="tg-sheet-columns">
      {SECTIONS.map((section) => {
        const sectionActions = actions.filter((action) => action.section === section)
        const rows = section === 'action' ? [palette, ...sectionActions] : sectionActions
        return <Section key={section} title={t(`commands.section.${section}`)} rows={rows} />
      })}
    </div>
  )
}

function Section(props: {
  title: string
  rows: readonly Pick<RegisteredAction, 'id' | 'title' | 'keys'>[]
}) {
  const rows = props.rows.flatMap(({ id, title, keys }) =>
    keys === undefined ? [] : [{ id, title, keys }],
  )
  if (rows.length === 0) return null
  return (
    <section>
      <h3>{props.title}</h3>
      <dl>
        {rows.map(({ id, title, keys }) => (
          <div key={id}>
            <dt>{title}</dt>
            <dd>
              <ShortcutKeys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function SingleKeysSwitch() {
  const { t } = useTranslation()
  const [isOn, setOn] = useSingleKeys()
  return (
    <Switch
      label={t('commands.singleKeys')}
      hint={t('commands.singleKeysHint')}
      isOn={isOn}
      onChange={setOn}
    />
  )
}
