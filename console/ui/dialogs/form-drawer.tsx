import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { Button } from '../elements/button.tsx'
import { type DraftForm, formProps } from '../forms/use-draft-form.ts'
import { confirmDiscard } from './confirm.tsx'
import { Drawer } from './drawer.tsx'

/**
 * A drawer with a form, which Enter submits. If there are unsaved changes, the user is asked before
 * the drawer closes. While a scratch copy (the site as of an earlier time) is open, the submit
 * button is disabled.
 */
export function FormDrawer(props: {
  isOpen: boolean
  title: string
  lead: string
  width?: number
  submitText: string
  form: Pick<DraftForm<object>, 'ref' | 'isChanged' | 'isBusy' | 'submit'>
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { isChanged, isBusy, submit } = props.form
  const cancel = async () => {
    if (await confirmDiscard(isChanged)) props.onClose()
  }
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={props.title}
      lead={props.lead}
      {...(props.width === undefined ? {} : { width: props.width })}
      hasUnsavedChanges={isChanged}
      footer={
        <>
          <Button onClick={() => void cancel()}>{t('ui.cancel')}</Button>
          <Button
            tone="primary"
            isBusy={isBusy}
            isDisabled={currentScratchCopy() !== null}
            onClick={submit}
          >
            {props.submitText}
          </Button>
        </>
      }
    >
      <form className="tg-form" {...formProps(props.form)}>
        {props.children}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Drawer>
  )
}
