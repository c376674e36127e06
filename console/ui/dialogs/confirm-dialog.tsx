import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../elements/button.tsx'
import { Dialog } from './dialog.tsx'

export type ConfirmWords = {
  title: string
  body?: ReactNode
  confirmText?: string
  cancelText?: string
  tone?: 'primary' | 'danger'
}

/** A question with two answers. Use `confirm()` unless the dialog needs further content. */
export function ConfirmDialog(
  props: ConfirmWords & { isOpen: boolean; onConfirm: () => void; onCancel: () => void },
): ReactElement {
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
