;; Prints the definitions of Clojure, found by its own reader: path, line, name. Paths are read from standard input.
(require '[clojure.string :as str])
(import '[clojure.lang LineNumberingPushbackReader])

(def heads #{"def" "defn" "defn-" "defmacro" "defonce" "defmulti" "defmethod" "defprotocol" "defrecord" "deftype" "definterface"
             "ns" "declare?" "definline" "s/def" "defalias"})

(defn tell [path line name & [sign]]
  (println (str path "\t" line "\t" (when sign "?") name)))

(defn named [it] (when (or (symbol? it) (keyword? it) (string? it)) it))

(declare form)

(defn members [path all]
  (doseq [it all :when (and (seq? it) (symbol? (first it)) (:line (meta it)))]
    (tell path (:line (meta it)) (name (first it)) :optional)))

(defn form [path it depth]
  (when (and (seq? it) (symbol? (first it)) (< depth 6))
    (let [head (str (first it)) one (second it) line (or (:line (meta one)) (:line (meta it)))]
      (cond
        (and (heads head) (named one) line)
        (do (tell path line (str/replace (str one) #"^:user/" "::"))
            (cond
              (#{"defprotocol" "definterface"} head)
              (doseq [m (drop 2 it) :when (and (seq? m) (symbol? (first m)))] (tell path (:line (meta m)) (str (first m))))
              (#{"defrecord" "deftype"} head)
              (do (doseq [f (nth it 2) :when (symbol? f)] (tell path (:line (meta f) line) (str f)))
                  (members path (drop 3 it)))))
        (re-find #"(^|/)def[\w-]*$" head) (when (and line (named one)) (tell path line (str one) :optional))
        (#{"extend-type" "extend-protocol" "extend" "reify" "proxy"} head) (members path (drop 2 it))
        (#{"do" "let" "when" "when-not" "if" "comment" "letfn" "binding"} head) (doseq [i (rest it)] (form path i (inc depth)))))))

(defn of-path [path]
  (with-open [in (LineNumberingPushbackReader. (clojure.java.io/reader path))]
    (let [all (try (binding [*read-eval* false *data-readers* {} *default-data-reader-fn* (fn [_ v] v)
                             *reader-resolver* (reify clojure.lang.LispReader$Resolver
                                                 (currentNS [_] 'user) (resolveClass [_ s] s) (resolveAlias [_ s] s) (resolveVar [_ s] s))]
                     (loop [found []]
                       (let [it (read {:read-cond :allow :features #{:clj :cljs} :eof ::end} in)]
                         (if (= it ::end) found (recur (conj found it))))))
                   (catch Exception _ nil))]
      (when all
        (println (str path "\t0\t"))
        (doseq [it all] (form path it 0))))))

(require 'clojure.java.io)
(doseq [path (line-seq (java.io.BufferedReader. *in*))] (of-path path))
