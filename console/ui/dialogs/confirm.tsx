import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { translate } from '#console/i18n/i18n.ts'
import { Button } from '../elements/button.tsx'
import { createStore } from '../state/create-store.ts'
import { Dialog } from './dialog.tsx'

type ConfirmTexts = {
  title: string
  body?: ReactNode
  confirmText?: string
  cancelText?: string
  tone?: 'primary' | 'danger'
}

/**
 * A dialog with a question. The component that renders the dialog also opens and closes it. To ask
 * a question without such a component, call `confirm()`.
 */
export function ConfirmDialog(
  props: ConfirmTexts & { isOpen: boolean; onConfirm: () => void; onCancel: () => void },
) {
  const { t } = useTranslation()
  return (
    <Dialog
      isOpen={props.isOpen}
      title={props.title}
      lead={props.body ?? ''}
      role="alertdialog"
      onClose={props.onCancel}
      foot={
        <>
          <Button onClick={props.onCancel}>{props.cancelText ?? t('ui.cancel')}</Button>
          <Button tone={props.tone ?? 'primary'} onClick={props.onConfirm}>
            {props.confirmText ?? t('ui.confirm')}
          </Button>
        </>
      }
    />
  )
}

type Question = { texts: ConfirmTexts; isOpen: boolean; answer: (isConfirmed: boolean) => void }

const question = createStore<Question | null>(null)

/**
 * Asks the user a question. Resolves to true if the user agrees, and to false if the dialog is
 * closed or another question replaces this one.
 */
export function confirm(texts: ConfirmTexts): Promise<boolean> {
  question.get()?.answer(false)
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      // The texts are kept, because the dialog still shows them while it fades out.
      if (question.get()?.answer === answer) question.set({ texts, isOpen: false, answer })
      resolve(isConfirmed)
    }
    question.set({ texts, isOpen: true, answer })
  })
}

export function ConfirmHost() {
  const openQuestion = question.useValue()
  if (openQuestion === null) return null
  return (
    <ConfirmDialog
      {...openQuestion.texts}
      isOpen={openQuestion.isOpen}
      onConfirm={() => openQuestion.answer(true)}
      onCancel={() => openQuestion.answer(false)}
    />
  )
}

export function confirmDiscard(hasUnsavedChanges: boolean): Promise<boolean> {
  if (!hasUnsavedChanges) return Promise.resolve(true)
  return confirm({
    title: translate('ui.unsavedTitle'),
    body: translate('ui.unsavedBody'),
    confirmText: translate('ui.unsavedLeave'),
    cancelText: translate('ui.unsavedStay'),
    tone: 'danger',
  })
}
