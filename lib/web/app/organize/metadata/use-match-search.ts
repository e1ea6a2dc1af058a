// The search for a series or book on a source: at once for its own title, then for what is entered.
import { useEffect, useRef, useState } from 'preact/hooks'
import { showError } from '../../ui/toast.tsx'
import { type Hit, type MatchSubject, search, type Terms } from './match-requests.ts'

/** `sourceId` is empty until the sources are known. */
export function useMatchSearch(subject: MatchSubject, sourceId: string, title: string) {
  const isSeries = subject.owner === 'series'
  const [terms, setTerms] = useState<Terms>({ title: isSeries ? title : '', author: '', isbn: '' })
  const [hits, setHits] = useState<Hit[] | null>(null)
  const [isSearching, setSearching] = useState(false)
  const latest = useRef(0)
  const find = async () => {
    const request = ++latest.current
    const isLatest = () => request === latest.current
    setHits(null)
    setSearching(true)
    try {
      // The server reads a title as files have it in several ways.
      const isOwn = isSeries && terms.title === title
      const found = await search(subject, sourceId, isOwn ? { ...terms, title: '' } : terms)
      if (isLatest()) setHits(found)
    } finally {
      if (isLatest()) setSearching(false)
    }
  }
  useEffect(() => {
    if (sourceId !== '') find().catch(showError)
  }, [sourceId])
  return { terms, setTerms, hits, isSearching, find }
}
