#lang racket/base
;; Prints the definitions of Racket and Scheme, found by its own reader: path, line, name. Paths are read from standard input.
(require racket/string racket/list)

(define (tell path stx name [optional? #f])
  (printf "~a\t~a\t~a~a\n" path (syntax-line stx) (if optional? "?" "") name))

(define (forms path)
  (call-with-input-file path
    (lambda (in)
      (port-count-lines! in)
      (if (regexp-match? #px"^(;[^\n]*\n|\\s)*#lang" (peek-string 4000 0 in))
          (parameterize ([read-accept-reader #t] [read-accept-lang #t])
            (list (read-syntax path in)))
          (let loop ([found '()])
            (define it (read-syntax path in))
            (if (eof-object? it) (reverse found) (loop (cons it found))))))))

(define (list-of stx)
  (define it (if (syntax? stx) (syntax-e stx) stx))
  (cond [(pair? it) (cons (car it) (or (list-of (cdr it)) '()))]
        [(null? it) '()]
        [else #f]))

(define (id stx) (and (syntax? stx) (symbol? (syntax-e stx)) (syntax-e stx)))

;; (define ((f a) b) ...) names f.
(define (head-of stx)
  (cond [(id stx) stx]
        [(list-of stx) => (lambda (all) (and (pair? all) (head-of (car all))))]
        [else #f]))

(define VALUES '(define-values define-syntaxes define-values-for-syntax define-values/invoke-unit))
(define (visit path stx outside?)
  (define all (list-of stx))
  (when (and all (pair? all))
    (define head (id (car all)))
    (cond
      [(not head) (for ([it all]) (visit path it outside?))]
      [(memq head '(quote quasiquote quasisyntax syntax syntax-case)) (void)]
      [(and (memq head VALUES) (pair? (cdr all)))
       (for ([it (or (list-of (cadr all)) '())] #:when (id it)) (tell path it (id it) (not outside?)))]
      [(and (memq head '(struct define-struct)) (pair? (cdr all)))
       (define named (head-of (cadr all)))
       (when named (tell path named (id named) (not outside?)))
       (for ([f (or (and (pair? (cddr all)) (list-of (if (id (caddr all)) (if (pair? (cdddr all)) (cadddr all) #'()) (caddr all)))) '())])
         (define field (head-of f))
         (when (and field outside?) (tell path field (id field) #t)))]
      [(memq head '(define-record-type define-record-type* define-struct-variant))
       (define (all-ids stx) (cond [(id stx) (tell path stx (id stx) #t)] [(list-of stx) => (lambda (l) (for-each all-ids l))] [else (void)]))
       (for-each all-ids (cdr all))]
      [(and (memq head '(define define* define-public define-inlinable define-macro define-integrable define-syntax define-syntax-rule define-for-syntax define/contract define/public define/private
                          define/override define/augment define-signature define-record-type define-inline define-syntax-class define-type
                          define-syntax-parameter define/match define/public-final define/override-final define-splicing-syntax-class)) (pair? (cdr all)))
       (define named (head-of (cadr all)))
       (when named (tell path named (id named) (and (not outside?) (id (cadr all)) #t)))
       (for ([it (cddr all)]) (visit path it #f))]
      [(regexp-match? #rx"^(define|struct|module)" (symbol->string head))
       (define named (and (pair? (cdr all)) (head-of (cadr all))))
       (when named (tell path named (id named) #t))
       (for ([it (cdr all)]) (visit path it (and outside? (regexp-match? #rx"^module" (symbol->string head)))))]
      [else (for ([it (cdr all)])
              (visit path it (and outside? (memq head '(begin module module* module+ begin-for-syntax #%module-begin library define-library)) #t)))])))

(for ([path (in-lines)])
  (with-handlers ([void (lambda (e) (void))])
    (define all (forms path))
    (printf "~a\t0\t\n" path)
    (for ([it all]) (visit path it #t))))
