import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { register } from '#console/api/auth/register.ts'
import { showInfo, showSuccess } from '#console/ui/toast.ts'
import type { Register } from '#write-api/contract/entry.ts'

/** Registers once at a time, and leads to the login. */
export function useRegister() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const isUnderWay = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState('')
  const submit = async (account: Register, takeToken: () => string | null) => {
    if (isUnderWay.current) return showInfo(t('auth.repeated'))
    const token = takeToken()
    if (token === null) return
    isUnderWay.current = true
    setBusy(true)
    setRefusal('')
    try {
      await register(account, token)
      showSuccess(t('auth.registered'), { goesAlong: true })
      await navigate('/login', { replace: true })
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
  return { submit, isBusy, refusal }
}
