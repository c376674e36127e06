import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { confirmDiscard } from '#console/ui/dialogs/confirm.tsx'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import type { OptionChange } from './changed-options.ts'
import { OptionDiff } from './section-history.tsx'
import { useOptionTexts } from './use-options.ts'
import type { SettingsForm } from './use-settings-form.ts'

export function SaveBar({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const count = form.changes.length
  const discard = async () => {
    if (await confirmDiscard(count > 0)) form.discard()
  }
  return (
    <div className={count > 0 ? 'tg-save-bar tg-save-bar-on' : 'tg-save-bar'}>
      <output>{count > 0 ? t('settings.changes', { count }) : t('settings.noChanges')}</output>
      <div className="tg-actions">
        {count > 0 && (
          <>
            <Button tone="quiet" onClick={() => void discard()}>
              {t('settings.discard')}
            </Button>
            <Button onClick={() => setOpen(true)}>{t('settings.review')}</Button>
          </>
        )}
        <Button tone="primary" isBusy={form.isSaving} onClick={() => void form.save()}>
          {t('shared.saveSettings')}
        </Button>
      </div>
      <Drawer
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('settings.reviewTitle')}
        lead={t('settings.reviewLead')}
      >
        <ul className="tg-changes">
          {form.changes.map((change) => (
            <Change key={change.key} change={change} form={form} />
          ))}
        </ul>
      </Drawer>
    </div>
  )
}

function Change({ change, form }: { change: OptionChange; form: SettingsForm }) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const option = form.option(change.key)
  return (
    <li>
      <h3>{texts.label(change.key)}</h3>
      <p className="tg-change-by">
        <code>{change.key}</code>
      </p>
      {option?.is_secret === true ? (
        <p className="tg-hint">
          {t(change.after === '' ? 'settings.secretCleared' : 'settings.secretReplaced')}
        </p>
      ) : (
        <OptionDiff before={change.before} after={change.after} />
      )}
    </li>
  )
}
