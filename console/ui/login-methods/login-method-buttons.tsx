import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import { Button } from '../elements/button.tsx'
import { showError } from '../messages/toast.ts'
import { LOGIN_METHOD_ICONS, type LoginMethod } from './login-methods.ts'
import { isMessenger, type Messenger } from './messenger-dialog.tsx'

/**
 * The buttons for logging in with an account of another site. A button that leads to another site
 * stays busy until that site opens.
 */
export function LoginMethodButtons(props: {
  methods: readonly LoginMethod[]
  leave: (type: OAuthType) => Promise<void>
  onMessenger?: (method: Messenger) => void
}) {
  const { methods, leave, onMessenger } = props
  const { t } = useTranslation()
  const [away, setAway] = useState<LoginMethod | null>(null)
  const select = async (method: LoginMethod): Promise<void> => {
    if (isMessenger(method)) return onMessenger?.(method)
    setAway(method)
    try {
      await leave(method)
    } catch (error) {
      showError(error)
      setAway(null)
    }
  }
  return (
    <>
      {methods.map((method) => (
        <Button
          key={method}
          isFill
          size="large"
          icon={LOGIN_METHOD_ICONS[method]}
          isBusy={away === method}
          isDisabled={away !== null && away !== method}
          onClick={() => void select(method)}
        >
          {t('oauth.signInWith', { site: t(`oauth.siteNameInSentence.${method}`) })}
        </Button>
      ))}
    </>
  )
}
