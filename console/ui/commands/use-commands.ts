import { useEffect, useRef } from 'react'
import { type Command, registerCommands } from './command.ts'

export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}
