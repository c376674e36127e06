import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { Button } from '../elements/button.tsx'
import { type DraftForm, formProps } from '../forms/use-draft-form.ts'
import { confirmDiscard } from './confirm.tsx'
import { Drawer } from './drawer.tsx'

/**
 * A drawer with a form, which Enter submits. If there are unsaved changes, the user is asked before
 * the drawer closes. While a scratch copy (the site as of an earlier time) is open, the form can't
 * be submitted.
 */
export function FormDrawer(props: {
  isOpen: boolean
  title: string
  lead: string
  isWide?: boolean
  submitText: string
  form: Pick<DraftForm<object>, 'ref' | 'isChanged' | 'isBusy' | 'submit'>
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { isChanged, isBusy, ref } = props.form
  const isDisabled = currentScratchCopy() !== null
  const submit = () => {
    if (!isDisabled) props.form.submit()
  }
  const cancel = async () => {
    if (await confirmDiscard(isChanged)) props.onClose()
  }
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={props.title}
      lead={props.lead}
      isWide={props.isWide ?? false}
      hasUnsavedChanges={isChanged}
      footer={
        <>
          <Button onClick={() => void cancel()}>{t('ui.cancel')}</Button>
          <Button tone="primary" isBusy={isBusy} isDisabled={isDisabled} onClick={submit}>
            {props.submitText}
          </Button>
        </>
      }
    >
      <form className="tg-form" {...formProps({ ref, submit })}>
        {props.children}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Drawer>
  )
}
