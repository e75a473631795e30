/**
 * Shares requests between callers who ask for the same. An answer is never older than its caller: a request under way
 * may have been answered before a change that the caller knows of, so all callers meanwhile share the next one.
 */
export function freshAnswers<Answer>(ask: (key: string) => Promise<Answer>): (key: string) => Promise<Answer> {
  const underWay = new Map<string, { readonly answer: Promise<Answer>; next: Promise<Answer> | undefined }>();

  const begin = (key: string): Promise<Answer> => {
    // Before any caller goes on: later callers need a newer answer.
    const answer = ask(key).finally(() => {
      if (underWay.get(key) === question && !question.next) underWay.delete(key);
    });
    const question = { answer, next: undefined };
    underWay.set(key, question);
    return answer;
  };

  return (key) => {
    const question = underWay.get(key);
    if (!question) return begin(key);
    const beginNext = (): Promise<Answer> => begin(key);
    question.next ??= question.answer.then(beginNext, beginNext);
    return question.next;
  };
}
