import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { Drawer } from '#console/ui/drawer.tsx'
import { mayLeave } from '#console/ui/may-leave.ts'
import { changedLines, type OptionChange } from './option-changes.ts'
import type { SettingsForm } from './use-settings-form.ts'

const LINES_MAX = 40

/** Stays in sight: how much is not saved, what exactly, and the save. */
export function SaveBar({ form }: { form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const count = form.changes.length
  const discard = async () => {
    if (await mayLeave(count > 0)) form.discard()
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
          {t('settings.save')}
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
            <Change key={change.key} change={change} />
          ))}
        </ul>
      </Drawer>
    </div>
  )
}

function Change({ change }: { change: OptionChange }): ReactElement {
  const { t } = useTranslation()
  const { removed, added } = changedLines(change.before, change.after)
  const lines = [
    ...removed.map((text) => ({ mark: '−', text, label: t('settings.before') })),
    ...added.map((text) => ({ mark: '+', text, label: t('settings.after') })),
  ]
  const rest = lines.length - LINES_MAX
  return (
    <li>
      <h3>
        <code>{change.key}</code>
      </h3>
      <ul className="tg-diff">
        {lines.slice(0, LINES_MAX).map(({ mark, text, label }) => (
          <li key={`${mark}${text}`} className={mark === '+' ? 'tg-diff-added' : 'tg-diff-removed'}>
            <span className="tg-visually-hidden">{label}</span>
            <span aria-hidden="true">{mark}</span>
            <code>{text.trim() === '' ? t('settings.empty') : text.trim()}</code>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="tg-hint">{t('settings.moreLines', { count: rest })}</p>}
    </li>
  )
}
